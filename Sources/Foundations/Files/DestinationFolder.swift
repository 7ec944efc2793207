import CFiles
import Glibc

/// A folder that finished files are moved into. Nothing in it is ever replaced.
public struct DestinationFolder: ~Copyable, Sendable {
    /// The path as given.
    public let path: String
    private let folder: Descriptor

    /// Opens the folder, so that it is known to be one before anything is done.
    /// - Throws: `FileError`: `EACCES` for one that nothing can be put into.
    public init(path: String) throws(FileError) {
        let folder = try Descriptor(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), .create, path)
        guard faccessat(folder.number, ".", W_OK | X_OK, AT_EACCESS) == 0 else { throw FileError(.create, path) }
        self.path = path
        self.folder = folder
    }

    /// Moves files that belong together into the folder, under the names that they have; all of them or none.
    ///
    /// The first one goes last: should the program be killed, who finds it where it was finds out that others are missing.
    /// - Returns: the new path of the first; nil where the files lie there already.
    /// - Throws: `FileError`: `EEXIST` where the folder has a file of such a name, `EXDEV` where they lie on another file system.
    public func take(_ files: [String]) throws(FileError) -> String? {
        var moved: [String] = []
        var first: String?
        for file in files.dropFirst() + files.prefix(1) {
            do throws(FileError) {
                first = try move(file)
            } catch {
                for file in moved.reversed() { try putBack(file) }
                throw error
            }
            if first != nil { moved.append(file) }
        }
        return first
    }

    /// Moves a file.
    /// - Returns: the new path; nil where the file lies there already.
    private func move(_ file: String) throws(FileError) -> String? {
        let (parentPath, name) = Self.split(file)
        let parent = try Descriptor(open(parentPath, O_RDONLY | O_DIRECTORY | O_CLOEXEC), .rename, file)
        let target = path.hasSuffix("/") ? "\(path)\(name)" : "\(path)/\(name)"
        guard try FileIdentity(parent.status(parentPath)) != FileIdentity(folder.status(path)) else { return nil }
        let code = Self.rename(name, from: parent, to: folder)
        guard code == 0 else {
            throw FileError(code == EEXIST ? .create : .rename, code == EEXIST ? target : file, code: code)
        }
        for descriptor in [folder.number, parent.number] where fsync(descriptor) != 0 && errno != EINVAL {
            throw FileError(.sync, target)
        }
        return target
    }

    /// Moves a file to where it was.
    private func putBack(_ file: String) throws(FileError) {
        let (parentPath, name) = Self.split(file)
        let parent = try Descriptor(open(parentPath, O_RDONLY | O_DIRECTORY | O_CLOEXEC), .rename, file)
        let code = Self.rename(name, from: folder, to: parent)
        guard code == 0 else { throw FileError(.rename, file, code: code) }
    }

    private static func split(_ file: String) -> (folder: String, name: String) {
        let slash = file.utf8.lastIndex(of: UInt8(ascii: "/"))
        let name = slash.map { String(file[file.utf8.index(after: $0)...]) } ?? file
        return (slash.map { $0 == file.startIndex ? "/" : String(file[..<$0]) } ?? ".", name)
    }

    /// Moves a file and replaces nothing. 0, or an `errno` code.
    private static func rename(
        _ name: String, from parent: borrowing Descriptor, to folder: borrowing Descriptor
    ) -> Int32 {
        let code = cfiles_rename_no_replace(parent.number, name, folder.number, name)
        guard code == EINVAL || code == ENOSYS else { return code }
        // This file system cannot refuse to replace; a second name can.
        guard linkat(parent.number, name, folder.number, name, 0) == 0 else { return errno }
        return unlinkat(parent.number, name, 0) == 0 ? 0 : errno
    }
}
