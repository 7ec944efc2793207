import CFiles
import Glibc

/// New files in one folder that appear under their names all together, complete and on disk, or not at all.
///
/// They are made one after another in the folder `.NAME.volumes.partial` beside where they are to be, which is locked against
/// other runs; each is on disk before the next one begins. `commit` moves them to their place, the first one last: who finds the
/// first has them all. A value that ends without `commit` removes them.
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
    /// What messages call the output: the path of its first file, or of what the files are parts of.
    public let path: String
    /// The existing files that the output will replace. They must not be read as input.
    public let identities: Set<FileIdentity>
    private let replacing: Bool
    private let permissions: mode_t
    private let belongs: @Sendable (String) -> Bool
    private let parentPath: String
    private var partial: PartialFolder
    /// The file that was begun last. Earlier ones are closed, because there may be more files than may be open at once.
    private var current: Descriptor?

    /// What the name of a file ends with that was there before, while the new ones take their names.
    private static let formerSuffix = ".former"

    /// Makes the temporary folder.
    ///
    /// - Parameters:
    ///   - path: what messages name; the files go to its folder.
    ///   - replacing: whether files that belong to the output may be replaced. All of them go away then, also those that get no
    ///     successor.
    ///   - permissions: the permissions of each file, whatever the umask is.
    ///   - belongs: whether a file of that name belongs to the output.
    /// - Throws: `FileError`: of `create` with `EEXIST` for a file that may not be replaced; of `replace` with `EISDIR` or
    ///   `ENOTSUP` for what is no regular file; of `list` or `stat` if the existing files cannot be identified; of `lock` with
    ///   `EWOULDBLOCK` while another run writes it; the errors of making the folder.
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

    /// Completes the file before, and begins with the next one.
    /// - Parameter name: one that belongs to the output and has no file yet.
    public mutating func begin(_ name: String) throws(FileError) {
        try end()
        let file = try partial.create(name, path(of: name))
        guard fchmod(file.number, permissions) == 0 else { throw FileError(.create, path(of: name)) }
        current = consume file
    }

    /// Appends bytes to the file that was begun last; all of them, or an error.
    /// - Throws: `FileError`, such as `ENOSPC`. The output is then of no use but to be dropped.
    public func write(_ bytes: Span<UInt8>) throws(FileError) {
        switch current {
        case .some(let file): try PartialFolder.write(bytes, to: file, path(of: partial.names.last ?? ""))
        case .none: throw FileError(.write, path, code: EBADF)
        }
    }

    /// Brings the last file to the disk and closes it.
    private mutating func end() throws(FileError) {
        guard let file = current.take() else { return }
        guard fsync(file.number) == 0 else { throw FileError(.sync, path(of: partial.names.last ?? "")) }
    }

    /// Makes everything durable and gives the files their names.
    /// - Throws: `FileError`. What was there before is there then, except after a failed `sync` of the folder.
    public consuming func commit() throws(FileError) {
        try end()
        try partial.folder.syncFolder(path)
        try giveNames()
        try partial.parent.syncFolder(path)
    }

    private borrowing func path(of name: String) -> String { Path.entry(name, of: parentPath) }
}

// MARK: - Names

extension AtomicFiles {
    /// A file that has left its place, or has got there.
    private struct Move {
        let name: String
        /// Whether it was there before; else it is a new one.
        let isFormer: Bool

        /// Its name in the temporary folder.
        var partialName: String { isFormer ? name + AtomicFiles.formerSuffix : name }
    }

    private mutating func giveNames() throws(FileError) {
        cfiles_signals_hold()
        defer { cfiles_signals_let_go() }
        guard partial.take() else { throw FileError(.rename, path, code: EINTR) }
        var moves: [Move] = []
        do throws(FileError) {
            try moveAll(&moves)
        } catch {
            let isUndone = undo(moves)
            partial.remove(partial.names)
            guard isUndone else { throw unfinished(error) }
            throw error
        }
        partial.remove(moves.filter(\.isFormer).map(\.partialName))
    }

    /// Moves away what was there before, the first one first, and the new files to their place, the first one last: at no moment
    /// is there a first file with others than its own.
    private borrowing func moveAll(_ moves: inout [Move]) throws(FileError) {
        for name in try Self.former(partial.parent, parentPath, replacing: replacing, belongs) {
            let move = Move(name: name, isFormer: true)
            guard renameat(partial.parent.number, name, partial.folder.number, move.partialName) == 0 else {
                throw FileError(.rename, path(of: name))
            }
            moves.append(move)
        }
        for name in partial.names.dropFirst().reversed() {
            try moveIn(name)
            moves.append(Move(name: name, isFormer: false))
        }
        // On the disk too, before the first one comes.
        try partial.parent.syncFolder(path)
        guard let first = partial.names.first else { return }
        try moveIn(first)
    }

    private borrowing func moveIn(_ name: String) throws(FileError) {
        let code = Self.rename(partial.folder, name, partial.parent, name)
        guard code == 0 else { throw FileError(code == EEXIST ? .create : .rename, path(of: name), code: code) }
    }

    /// Renames a file, and replaces nothing. 0, or an `errno` code.
    private static func rename(
        _ from: borrowing Descriptor, _ name: String, _ to: borrowing Descriptor, _ newName: String
    ) -> Int32 {
        let code = cfiles_rename_no_replace(from.number, name, to.number, newName)
        guard code == EINVAL || code == ENOSYS else { return code }
        // This file system cannot refuse to replace; the names were free a moment ago.
        return renameat(from.number, name, to.number, newName) == 0 ? 0 : errno
    }

    /// Moves everything back, in the opposite order.
    /// - Returns: whether all is as it was.
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

    private borrowing func unfinished(_ error: FileError) -> FileError {
        FileError(
            error.operation, path, code: error.code,
            saying: "\(error); what was there before lies in \(path(of: partial.name)), move it back by hand")
    }

    /// The names of the files of the output that are there, the first one first.
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

    /// Makes and locks the temporary folder. One in which a killed run left files that were there before is not touched, unless
    /// nothing else is in it: then all new ones had got to their place.
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
                cannot create \(path): \(partialPath) holds what a run that was killed did not bring back; \
                move files named …\(formerSuffix) to their old names, and remove that folder
                """
            throw FileError(.create, path, code: ENOTEMPTY, saying: words)
        }
    }
}
