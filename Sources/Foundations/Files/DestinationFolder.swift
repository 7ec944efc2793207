import CFiles
import Glibc

/// A folder into which finished files are moved without replacing other files.
public struct DestinationFolder: ~Copyable, Sendable {
    /// The path of the folder.
    public let path: String
    private let folder: Descriptor

    /// Opens the folder, so that errors are found before any other work is done.
    ///
    /// - Throws: `FileError`, such as `EACCES` if no file can be created in the folder.
    public init(path: String) throws(FileError) {
        let folder = try Descriptor(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), .create, path)
        guard faccessat(folder.number, ".", W_OK | X_OK, AT_EACCESS) == 0 else { throw FileError(.create, path) }
        self.path = path
        self.folder = folder
    }

    /// The maximum number that is added to a name to make it unique.
    private static let maximumNameSuffix = 10_000

    /// Moves a group of files into the folder, either all of them or none.
    ///
    /// If one of the names exists in the folder, the lowest unused number, beginning with 2, is added to all names. For
    /// example, a bundle is renamed to `night.tar.zst.2` and its signature to `night.tar.zst.2.sig`. Volumes must keep
    /// their names, because a list refers to them. They are therefore moved into a new folder `night.tar.zst.2`.
    ///
    /// The first file is moved last. If the process is killed before that, the first file is still at its original
    /// path, which shows that other files are missing there.
    ///
    /// - Parameters:
    ///   - files: The paths of the files.
    ///   - name: The name of the bundle, which is a prefix of the names of all files.
    ///   - keepsNames: Whether the files must keep their names.
    /// - Returns: The new path of the first file, or `nil` if the files are in the folder already.
    /// - Throws: `FileError`, such as `EXDEV` if the files are on another file system.
    public func move(_ files: [String], named name: String, keepsNames: Bool) throws(FileError) -> String? {
        var number = 1
        while true {
            do throws(FileError) {
                return try move(files) { Self.target(of: $0, name, number, keepsNames) }
            } catch {
                guard error.alreadyExists, number < Self.maximumNameSuffix else { throw error }
                number += 1
            }
        }
    }

    /// Returns the new path of `file`, relative to the folder, if `number` is added to the names.
    private static func target(of file: String, _ name: String, _ number: Int, _ keepsNames: Bool) -> String {
        if number == 1 { return file }
        return keepsNames ? "\(name).\(number)/\(file)" : "\(name).\(number)\(file.dropFirst(name.count))"
    }

    private func move(_ files: [String], as target: (String) -> String) throws(FileError) -> String? {
        var moved: [String] = []
        var first: String?
        for file in files.dropFirst() + files.prefix(1) {
            do throws(FileError) {
                first = try move(file, as: target)
            } catch {
                for file in moved.reversed() { try restore(file, from: target) }
                throw error
            }
            if first != nil { moved.append(file) }
        }
        return first
    }

    /// Moves a file, and returns its new path, or `nil` if the file is in the folder already.
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

    private func restore(_ file: String, from target: (String) -> String) throws(FileError) {
        let (parentPath, name) = (Path.folder(of: file), Path.name(of: file))
        let parent = try Descriptor(open(parentPath, O_RDONLY | O_DIRECTORY | O_CLOEXEC), .rename, file)
        let code = Self.rename(target(name), from: folder, to: name, in: parent)
        guard code == 0 else { throw FileError(.rename, file, code: code) }
    }

    /// Renames a file without replacing an existing file, and returns 0 or an `errno` code.
    private static func rename(
        _ name: String, from parent: borrowing Descriptor, to newName: String, in folder: borrowing Descriptor
    ) -> Int32 {
        let code = cfiles_rename_no_replace(parent.number, name, folder.number, newName)
        guard code == EINVAL || code == ENOSYS else { return code }
        // This file system does not support renaming without replacement, but creating a hard link never replaces a
        // file.
        guard linkat(parent.number, name, folder.number, newName, 0) == 0 else { return errno }
        return unlinkat(parent.number, name, 0) == 0 ? 0 : errno
    }
}
