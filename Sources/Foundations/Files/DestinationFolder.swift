import CLibrary

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
    /// path, which shows that other files are missing there. If one of `files` is a symbolic link, the file to which it
    /// leads is moved under the name of the link, and the link is removed.
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
                guard error.alreadyExists, error.operation == .create, number < Self.maximumNameSuffix else {
                    throw error
                }
                number += 1
            }
        }
    }

    /// Returns the new path of `file`, relative to the folder, if `number` is added to the names.
    private static func target(of file: String, _ name: String, _ number: Int, _ keepsNames: Bool) -> String {
        if number == 1 { return file }
        return keepsNames ? "\(name).\(number)/\(file)" : "\(name).\(number)\(file.dropFirst(name.count))"
    }

    /// A file that was moved.
    private struct Move {
        let oldPath: String
        /// The new path relative to the folder.
        let newName: String
    }

    private func move(_ files: [String], as target: (String) -> String) throws(FileError) -> String? {
        var moves: [Move] = []
        var first: String?
        do throws(FileError) {
            for file in files.dropFirst() + files.prefix(1) { first = try move(file, as: target, adding: &moves) }
        } catch {
            var failure = error
            for move in moves.reversed() {
                do throws(FileError) { try restore(move, after: failure) } catch { failure = error }
            }
            throw failure
        }
        guard first != nil else { return nil }
        // An error is ignored, because the file itself was moved and only a link to its old path remains.
        for file in files where Self.isLink(file) { unlink(file) }
        return first
    }

    /// Moves a file, and returns its new path, or `nil` if the file is in the folder already.
    ///
    /// If `file` is a symbolic link, the file to which it leads is moved. The move is added to `moves` before it is
    /// made durable, so that the caller can undo it if that fails.
    private func move(
        _ file: String, as target: (String) -> String, adding moves: inout [Move]
    ) throws(FileError) -> String? {
        let realPath = Self.isLink(file) ? try RealPath.resolved(file) : file
        let (parentPath, name) = (Path.folder(of: realPath), Path.name(of: realPath))
        let parent = try Descriptor(open(parentPath, O_RDONLY | O_DIRECTORY | O_CLOEXEC), .rename, file)
        let newName = target(Path.name(of: file))
        let newPath = path(of: newName)
        guard try FileIdentity(parent.status(parentPath)) != FileIdentity(folder.status(path)) else { return nil }
        if let group = Path.parent(of: newName) {
            guard mkdirat(folder.number, group, 0o700) == 0 || errno == EEXIST else {
                throw FileError(.create, newPath)
            }
        }
        let code = parent.move(name, to: newName, in: folder)
        guard code == 0 else {
            throw FileError(code == EEXIST ? .create : .rename, code == EEXIST ? newPath : file, code: code)
        }
        moves.append(Move(oldPath: realPath, newName: newName))
        // The new entry must be durable before the removal of the old one is.
        try syncFolders(of: newName)
        try parent.syncFolder(parentPath)
        return newPath
    }

    /// Returns the path of the entry `newName` of the folder.
    public func path(of newName: String) -> String {
        path.hasSuffix("/") ? "\(path)\(newName)" : "\(path)/\(newName)"
    }

    /// Makes the entry `newName` durable, and the group folder that contains it.
    private func syncFolders(of newName: String) throws(FileError) {
        if let group = Path.parent(of: newName) {
            try folder.folder(group, .sync, path(of: group)).syncFolder(path(of: group))
        }
        try folder.syncFolder(path)
    }

    private static func isLink(_ file: String) -> Bool {
        var status = stat()
        return lstat(file, &status) == 0 && status.isLink
    }

    /// Moves a file back after `error`.
    private func restore(_ move: Move, after error: FileError) throws(FileError) {
        let parent = open(Path.folder(of: move.oldPath), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        do throws(FileError) {
            let parent = try Descriptor(parent, .rename, move.oldPath)
            let code = folder.move(move.newName, to: Path.name(of: move.oldPath), in: parent)
            guard code == 0 else { throw FileError(.rename, move.oldPath, code: code) }
            // Errors are ignored, because after a power failure, the file has its old or its new path.
            try? parent.syncFolder(move.oldPath)
            try? syncFolders(of: move.newName)
        } catch {
            throw FileError(
                error.operation, move.oldPath, code: error.code,
                message: "\(error); \(move.oldPath) is now at \(path(of: move.newName)); move it back manually")
        }
        if let group = Path.parent(of: move.newName) { unlinkat(folder.number, group, AT_REMOVEDIR) }
    }
}
