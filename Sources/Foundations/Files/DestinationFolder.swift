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

    /// The most groups of files of one name.
    private static let mostOfOneName = 10_000

    /// Moves files that belong together into the folder; all of them or none.
    ///
    /// They keep their names. Where the folder has one of them, the first of the numbers 2, 3, … is used that is free: a single
    /// bundle becomes `night.tar.zst.2` with `night.tar.zst.2.sig`, and volumes, which a list names, are moved into a folder
    /// `night.tar.zst.2`.
    ///
    /// The first file is moved last. If the program is killed, the next one that reads it finds that others are missing.
    /// - Parameters:
    ///   - files: the paths.
    ///   - name: the name of the bundle, with which the names of the files begin.
    ///   - keepsNames: whether another name would make the files unusable.
    /// - Returns: the new path of the first file; nil where the files are in the folder already.
    /// - Throws: `FileError`: `EXDEV` where the files are on another file system.
    public func take(_ files: [String], of name: String, keepsNames: Bool) throws(FileError) -> String? {
        var number = 1
        while true {
            do throws(FileError) {
                return try take(files) { Self.target(of: $0, name, number, keepsNames) }
            } catch {
                guard error.isExisting, number < Self.mostOfOneName else { throw error }
                number += 1
            }
        }
    }

    /// The path of a file in the folder.
    private static func target(of file: String, _ name: String, _ number: Int, _ keepsNames: Bool) -> String {
        if number == 1 { return file }
        return keepsNames ? "\(name).\(number)/\(file)" : "\(name).\(number)\(file.dropFirst(name.count))"
    }

    private func take(_ files: [String], as target: (String) -> String) throws(FileError) -> String? {
        var moved: [String] = []
        var first: String?
        for file in files.dropFirst() + files.prefix(1) {
            do throws(FileError) {
                first = try move(file, as: target)
            } catch {
                for file in moved.reversed() { try putBack(file, from: target) }
                throw error
            }
            if first != nil { moved.append(file) }
        }
        return first
    }

    /// Moves a file.
    ///
    /// - Returns: the new path; nil where the file is in the folder already.
    private func move(_ file: String, as target: (String) -> String) throws(FileError) -> String? {
        let (parentPath, name) = (Path.folder(of: file), Path.name(of: file))
        let parent = try Descriptor(open(parentPath, O_RDONLY | O_DIRECTORY | O_CLOEXEC), .rename, file)
        let newName = target(name)
        let newPath = path.hasSuffix("/") ? "\(path)\(newName)" : "\(path)/\(newName)"
        guard try FileIdentity(parent.status(parentPath)) != FileIdentity(folder.status(path)) else { return nil }
        if newName.contains("/") {
            let group = Path.folder(of: newName)
            guard mkdirat(folder.number, group, 0o700) == 0 || errno == EEXIST else {
                throw FileError(.create, newPath)
            }
        }
        let code = Self.rename(name, from: parent, to: newName, in: folder)
        guard code == 0 else {
            throw FileError(code == EEXIST ? .create : .rename, code == EEXIST ? newPath : file, code: code)
        }
        try folder.syncFolder(newPath)
        try parent.syncFolder(newPath)
        return newPath
    }

    /// Moves a file to where it was.
    private func putBack(_ file: String, from target: (String) -> String) throws(FileError) {
        let (parentPath, name) = (Path.folder(of: file), Path.name(of: file))
        let parent = try Descriptor(open(parentPath, O_RDONLY | O_DIRECTORY | O_CLOEXEC), .rename, file)
        let code = Self.rename(target(name), from: folder, to: name, in: parent)
        guard code == 0 else { throw FileError(.rename, file, code: code) }
    }

    /// Moves a file and replaces nothing.
    ///
    /// - Returns: 0, or an `errno` code.
    private static func rename(
        _ name: String, from parent: borrowing Descriptor, to newName: String, in folder: borrowing Descriptor
    ) -> Int32 {
        let code = cfiles_rename_no_replace(parent.number, name, folder.number, newName)
        guard code == EINVAL || code == ENOSYS else { return code }
        // This file system cannot refuse to replace. A second name of the file can.
        guard linkat(parent.number, name, folder.number, newName, 0) == 0 else { return errno }
        return unlinkat(parent.number, name, 0) == 0 ? 0 : errno
    }
}
