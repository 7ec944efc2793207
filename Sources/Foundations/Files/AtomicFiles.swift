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
    private let partialName: String
    private let parent: Descriptor
    private let folder: Descriptor
    private let slot: Int32
    private var files: [NewFile] = []
    private var current: Descriptor?
    private var isPending = true

    /// A file in the temporary folder.
    private struct NewFile: Sendable {
        let name: String
        /// The number by which the signal handler removes the file.
        let slot: Int32
    }

    /// Pieces of this many bytes go to the disk at once.
    private static let syncedSize = 64 << 10
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
        let partialName = PartialName.of(name, suffix: ".volumes.partial")
        let partialPath = Self.path(of: partialName, in: parentPath)
        let parent = try Descriptor(open(parentPath, O_RDONLY | O_DIRECTORY | O_CLOEXEC), .create, path)
        let former = try Self.former(parent, parentPath, replacing: replacing, belongs)
        cfiles_signals_hold()
        defer { cfiles_signals_let_go() }
        folder = try Self.openPartial(parent, partialName, partialPath, path, belongs)
        slot = cfiles_partial_add_folder(parent.number, partialName, path)
        self.path = path
        identities = Set(former.compactMap { FileIdentity(path: Self.path(of: $0, in: parentPath)) })
        self.replacing = replacing
        self.permissions = permissions
        self.belongs = belongs
        self.parentPath = parentPath
        self.partialName = partialName
        self.parent = parent
    }

    deinit {
        if isPending {
            cfiles_signals_hold()
            if takeFromSignals() { remove(names) }
            cfiles_signals_let_go()
        }
        for file in files { cfiles_partial_release(file.slot) }
        cfiles_partial_release(slot)
    }

    /// Completes the file before, and begins with the next one.
    /// - Parameter name: one that belongs to the output and has no file yet.
    public mutating func begin(_ name: String) throws(FileError) {
        try end()
        cfiles_signals_hold()
        defer { cfiles_signals_let_go() }
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        let file = try Descriptor(openat(folder.number, name, flags, 0o600), .create, path(of: name))
        files.append(NewFile(name: name, slot: cfiles_partial_add(folder.number, name, "")))
        guard fchmod(file.number, permissions) == 0 else { throw FileError(.create, path(of: name)) }
        current = consume file
    }

    /// Appends bytes to the file that was begun last; all of them, or an error.
    /// - Throws: `FileError`, such as `ENOSPC`. The output is then of no use but to be dropped.
    public func write(_ bytes: Span<UInt8>) throws(FileError) {
        let number: Int32 =
            switch current {
            case .some(let file): file.number
            case .none: -1
            }
        let code = bytes.writeAll(to: number)
        guard code == 0 else { throw FileError(.write, path(of: names.last ?? ""), code: code) }
        let end = lseek(number, 0, SEEK_CUR)
        // The disk has time until the next one begins.
        if bytes.count >= Self.syncedSize { cfiles_begin_sync(number, Int64(end - bytes.count), Int64(bytes.count)) }
    }

    /// Brings the last file to the disk and closes it: there may be more files than may be open at once.
    private mutating func end() throws(FileError) {
        guard let file = current.take() else { return }
        guard fsync(file.number) == 0 else { throw FileError(.sync, path(of: names.last ?? "")) }
    }

    /// Makes everything durable and gives the files their names.
    /// - Throws: `FileError`. What was there before is there then, except after a failed `sync` of the folder.
    public consuming func commit() throws(FileError) {
        try end()
        guard fsync(folder.number) == 0 || errno == EINVAL else { throw FileError(.sync, path) }
        isPending = false
        try giveNames()
        guard fsync(parent.number) == 0 || errno == EINVAL else { throw FileError(.sync, path) }
    }

    /// Takes everything away from the signal handler; false if a signal has removed it.
    private borrowing func takeFromSignals() -> Bool {
        var isOurs = cfiles_partial_take(slot) == 1
        for file in files where cfiles_partial_take(file.slot) != 1 { isOurs = false }
        return isOurs
    }

    /// Removes files and the temporary folder, if there is nothing else in it.
    private borrowing func remove(_ names: [String]) {
        PartialFolder.remove(names, from: folder)
        unlinkat(parent.number, partialName, AT_REMOVEDIR)
    }

    /// The names of the new files, in the order in which they were begun.
    private var names: [String] { files.map(\.name) }

    private borrowing func path(of name: String) -> String { Self.path(of: name, in: parentPath) }

    private static func path(of name: String, in parentPath: String) -> String {
        switch parentPath {
        case ".": name
        case "/": "/\(name)"
        default: "\(parentPath)/\(name)"
        }
    }
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

    private borrowing func giveNames() throws(FileError) {
        cfiles_signals_hold()
        defer { cfiles_signals_let_go() }
        guard takeFromSignals() else { throw FileError(.rename, path, code: EINTR) }
        var moves: [Move] = []
        do throws(FileError) {
            try moveAll(&moves)
        } catch {
            let isUndone = undo(moves)
            remove(names)
            guard isUndone else { throw unfinished(error) }
            throw error
        }
        remove(moves.filter(\.isFormer).map(\.partialName))
    }

    /// Moves away what was there before, the first one first, and the new files to their place, the first one last: at no moment
    /// is there a first file with others than its own.
    private borrowing func moveAll(_ moves: inout [Move]) throws(FileError) {
        for name in try Self.former(parent, parentPath, replacing: replacing, belongs) {
            let move = Move(name: name, isFormer: true)
            guard renameat(parent.number, name, folder.number, move.partialName) == 0 else {
                throw FileError(.rename, path(of: name))
            }
            moves.append(move)
        }
        for name in names.dropFirst().reversed() {
            try moveIn(name)
            moves.append(Move(name: name, isFormer: false))
        }
        // On the disk too, before the first one comes.
        guard fsync(parent.number) == 0 || errno == EINVAL else { throw FileError(.sync, path) }
        guard let first = names.first else { return }
        try moveIn(first)
    }

    private borrowing func moveIn(_ name: String) throws(FileError) {
        let code = Self.rename(folder, name, parent, name)
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
                ? Self.rename(folder, move.partialName, parent, move.name)
                : Self.rename(parent, move.name, folder, move.name)
            if code != 0 { isUndone = false }
        }
        return isUndone
    }

    private borrowing func unfinished(_ error: FileError) -> FileError {
        FileError(
            error.operation, path, code: error.code,
            saying: "\(error); what was there before lies in \(path(of: partialName)), move it back by hand")
    }

    /// The names of the files of the output that are there, the first one first.
    private static func former(
        _ parent: borrowing Descriptor, _ parentPath: String, replacing: Bool, _ belongs: (String) -> Bool
    ) throws(FileError) -> [String] {
        let names = try PartialFolder.names(in: parent, parentPath).filter(belongs)
        for name in names {
            let path = path(of: name, in: parentPath)
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
        _ parent: borrowing Descriptor, _ name: String, _ partialPath: String, _ path: String,
        _ belongs: (String) -> Bool
    ) throws(FileError) -> Descriptor {
        do throws(FileError) {
            return try PartialFolder.open(parent, name, partialPath) { left in
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
