import CFiles
import Glibc

/// A group of new files in one folder that appear under their names all together, complete and durable, or not at all.
///
/// The files are written one after another to the temporary folder `.NAME.volumes.partial`, which is locked against
/// other runs. `commit` moves the files to their final paths, the first file last. Therefore, if the first file exists,
/// all of them do. If the value is destroyed without `commit`, the files are removed.
///
/// ```swift
/// var output = try AtomicFiles(path: path, replacing: false) { $0.hasPrefix("night.0") }
/// try output.begin("night.001")
/// try output.write(bytes.span)
/// try output.begin("night.002")
/// try output.write(bytes.span)
/// try output.commit()
/// ```
public struct AtomicFiles: ~Copyable, Sendable {
    /// The path for error messages, which is that of the first file or of the complete output.
    public let path: String
    /// The identities of the existing files that the output replaces.
    ///
    /// These files must not be read as input.
    public let identities: Set<FileIdentity>
    private let replacing: Bool
    private let permissions: mode_t
    private let belongs: @Sendable (String) -> Bool
    private let parentPath: String
    private var partial: PartialFolder
    /// The file that was begun last.
    ///
    /// Earlier files are closed, because a process can open only a limited number of files.
    private var current: Descriptor?

    /// The suffix that is added to the names of replaced files while the new files are moved to their final paths.
    private static let formerSuffix = ".former"

    /// Creates the temporary folder.
    ///
    /// - Parameters:
    ///   - path: The path for error messages. The files are created in the same folder.
    ///   - replacing: Whether existing files of the output may be replaced. If so, all of them are removed, even if the
    ///     new output has fewer files.
    ///   - permissions: The permissions of each file, regardless of the umask.
    ///   - belongs: Returns whether a file with this name belongs to the output.
    /// - Throws: `FileError`: `create` with `EEXIST` if an existing file must not be replaced, `replace` with `EISDIR`
    ///   or `ENOTSUP` if it is not a regular file, or `lock` with `EWOULDBLOCK` while another run writes the output.
    public init(
        path: String, replacing: Bool, permissions: mode_t = 0o600,
        _ belongs: @escaping @Sendable (String) -> Bool
    ) throws(FileError) {
        let (parentPath, name) = try AtomicOutput.split(path)
        let parent = try Descriptor(open(parentPath, O_RDONLY | O_DIRECTORY | O_CLOEXEC), .create, path)
        let former = try Self.former(parent, parentPath, replacing: replacing, belongs)
        partial = try Self.openPartial(parent, parentPath, name, path, belongs)
        self.path = path
        identities = Set(former.compactMap { FileIdentity(path: Path.entry($0, of: parentPath)) })
        self.replacing = replacing
        self.permissions = permissions
        self.belongs = belongs
        self.parentPath = parentPath
    }

    /// Finishes the current file and begins the file `name`.
    ///
    /// The name must be new and belong to the output.
    public mutating func begin(_ name: String) throws(FileError) {
        try finishFile()
        let file = try partial.create(name, path(of: name))
        guard fchmod(file.number, permissions) == 0 else { throw FileError(.create, path(of: name)) }
        current = consume file
    }

    /// Appends all bytes to the current file.
    ///
    /// - Throws: `FileError`, such as `ENOSPC`. The output must then be discarded.
    public func write(_ bytes: Span<UInt8>) throws(FileError) {
        switch current {
        case .some(let file): try PartialFolder.write(bytes, to: file, path(of: partial.names.last ?? ""))
        case .none: throw FileError(.write, path, code: EBADF)
        }
    }

    /// Makes the current file durable and closes it.
    private mutating func finishFile() throws(FileError) {
        guard let file = current.take() else { return }
        guard fsync(file.number) == 0 else { throw FileError(.sync, path(of: partial.names.last ?? "")) }
    }

    /// Makes the files durable and moves them to their final paths.
    ///
    /// - Throws: `FileError`. The previous files are then unchanged, unless only the final `sync` of the folder failed.
    public consuming func commit() throws(FileError) {
        try finishFile()
        try partial.folder.syncFolder(path)
        try publish()
        try partial.parent.syncFolder(path)
    }

    private borrowing func path(of name: String) -> String { Path.entry(name, of: parentPath) }
}

// MARK: - Names

extension AtomicFiles {
    private struct Move {
        let name: String
        /// Whether the file existed before and is being replaced.
        let isFormer: Bool

        /// The name of the file in the temporary folder.
        var partialName: String { isFormer ? name + AtomicFiles.formerSuffix : name }
    }

    private mutating func publish() throws(FileError) {
        cfiles_signals_defer()
        defer { cfiles_signals_resume() }
        guard partial.claim() else { throw FileError(.rename, path, code: EINTR) }
        var moves: [Move] = []
        do throws(FileError) {
            try moveAll(&moves)
        } catch {
            let isUndone = undo(moves)
            partial.remove(partial.names)
            guard isUndone else { throw restorationError(after: error) }
            throw error
        }
        partial.remove(moves.filter(\.isFormer).map(\.partialName))
    }

    /// Moves the replaced files to the temporary folder, and then the new files to their final paths.
    ///
    /// The first of the replaced files is moved first, and the first of the new files is moved last. The first file is
    /// therefore never present together with files of another output.
    private borrowing func moveAll(_ moves: inout [Move]) throws(FileError) {
        for name in try Self.former(partial.parent, parentPath, replacing: replacing, belongs) {
            let move = Move(name: name, isFormer: true)
            guard renameat(partial.parent.number, name, partial.folder.number, move.partialName) == 0 else {
                throw FileError(.rename, path(of: name))
            }
            moves.append(move)
        }
        for name in partial.names.dropFirst().reversed() {
            try moveIntoPlace(name)
            moves.append(Move(name: name, isFormer: false))
        }
        // The other files must be durable before the first one appears.
        try partial.parent.syncFolder(path)
        guard let first = partial.names.first else { return }
        try moveIntoPlace(first)
    }

    private borrowing func moveIntoPlace(_ name: String) throws(FileError) {
        let code = Self.rename(partial.folder, name, partial.parent, name)
        guard code == 0 else { throw FileError(code == EEXIST ? .create : .rename, path(of: name), code: code) }
    }

    /// Renames a file without replacing another one, and returns 0 or an `errno` code.
    private static func rename(
        _ from: borrowing Descriptor, _ name: String, _ to: borrowing Descriptor, _ newName: String
    ) -> Int32 {
        let code = cfiles_rename_no_replace(from.number, name, to.number, newName)
        guard code == EINVAL || code == ENOSYS else { return code }
        // This file system does not support renaming without replacement. The name was unused when it was checked.
        return renameat(from.number, name, to.number, newName) == 0 ? 0 : errno
    }

    /// Reverts the moves in reverse order, and returns whether all succeeded.
    private borrowing func undo(_ moves: [Move]) -> Bool {
        var isUndone = true
        for move in moves.reversed() {
            let code =
                move.isFormer
                ? Self.rename(partial.folder, move.partialName, partial.parent, move.name)
                : Self.rename(partial.parent, move.name, partial.folder, move.name)
            if code != 0 { isUndone = false }
        }
        return isUndone
    }

    private borrowing func restorationError(after error: FileError) -> FileError {
        FileError(
            error.operation, path, code: error.code,
            saying: "\(error); the previous files are in \(path(of: partial.name)); move them back manually")
    }

    /// Returns the sorted names of the existing files of the output.
    private static func former(
        _ parent: borrowing Descriptor, _ parentPath: String, replacing: Bool, _ belongs: (String) -> Bool
    ) throws(FileError) -> [String] {
        let names = try PartialFolder.names(in: parent, parentPath).filter(belongs)
        for name in names {
            let path = Path.entry(name, of: parentPath)
            var status = stat()
            guard fstatat(parent.number, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
                guard errno == ENOENT else { throw FileError(.stat, path) }
                continue
            }
            guard status.isRegular else {
                throw FileError(.replace, path, code: status.isFolder ? EISDIR : ENOTSUP)
            }
            guard replacing else { throw FileError(.create, path, code: EEXIST) }
        }
        return names
    }

    /// Creates and locks the temporary folder.
    ///
    /// If an interrupted run left replaced files in the folder together with other files, the folder is not changed. If
    /// the folder contains only replaced files, they are removed, because all new files were moved to their final
    /// paths.
    private static func openPartial(
        _ parent: consuming Descriptor, _ parentPath: String, _ name: String, _ path: String,
        _ belongs: (String) -> Bool
    ) throws(FileError) -> PartialFolder {
        let partialName = PartialName.of(name, suffix: ".volumes.partial")
        let partialPath = Path.entry(partialName, of: parentPath)
        do throws(FileError) {
            return try PartialFolder(in: parent, partialName, partialPath, of: path) { left in
                left.allSatisfy(belongs)
                    || left.allSatisfy {
                        $0.hasSuffix(formerSuffix) && belongs(String($0.dropLast(formerSuffix.count)))
                    }
            }
        } catch {
            guard error.code == ENOTEMPTY else { throw error }
            let words = """
                cannot create \(path): \(partialPath) contains files that an interrupted run did not restore; \
                move files named …\(formerSuffix) to their old names, and remove that folder
                """
            throw FileError(.create, path, code: ENOTEMPTY, saying: words)
        }
    }
}
