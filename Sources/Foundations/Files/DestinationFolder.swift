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

    /// Moves a file into the folder, under the name that it has.
    ///
    /// - Returns: the new path; nil where the file lies there already.
    /// - Throws: `FileError`: `EEXIST` where the folder has a file of that name, `EXDEV` where it lies on another file system.
    public func take(_ file: String) throws(FileError) -> String? {
        let slash = file.utf8.lastIndex(of: UInt8(ascii: "/"))
        let name = slash.map { String(file[file.utf8.index(after: $0)...]) } ?? file
        let parentPath = slash.map { $0 == file.startIndex ? "/" : String(file[..<$0]) } ?? "."
        let parent = try Descriptor(open(parentPath, O_RDONLY | O_DIRECTORY | O_CLOEXEC), .rename, file)
        let target = path.hasSuffix("/") ? "\(path)\(name)" : "\(path)/\(name)"
        guard try FileIdentity(parent.status(parentPath)) != FileIdentity(folder.status(path)) else { return nil }
        var code = cfiles_rename_no_replace(parent.number, name, folder.number, name)
        if code == EINVAL || code == ENOSYS {
            // This file system cannot refuse to replace; a second name can.
            code = linkat(parent.number, name, folder.number, name, 0) == 0 ? 0 : errno
            if code == 0 { code = unlinkat(parent.number, name, 0) == 0 ? 0 : errno }
        }
        guard code == 0 else {
            throw FileError(code == EEXIST ? .create : .rename, code == EEXIST ? target : file, code: code)
        }
        for descriptor in [folder.number, parent.number] where fsync(descriptor) != 0 && errno != EINVAL {
            throw FileError(.sync, target)
        }
        return target
    }
}
