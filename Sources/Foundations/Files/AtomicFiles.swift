import CFiles
import CLibrary

/// A group of new files in one folder that all appear under their final names, complete and durable, or not at all.
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
    /// The path for error messages, which is the path of the first file or of the complete output.
    public let path: String
    /// The identities of the existing files that the output replaces.
    ///
    /// These files must not be read as input.
    public let identities: Set<FileIdentity>
    private let replacesExisting: Bool
    private let permissions: mode_t
    private let belongsToOutput: @Sendable (String) -> Bool
    private let parentPath: String
    private var partialFolder: PartialFolder
    /// The file that was begun last.
    ///
    /// Earlier files are closed, because a process can open only a limited number of files.
    private var currentFile: Descriptor?

    /// The suffix that is added to the names of replaced files while the new files are moved to their final paths.
    private static let replacedFileSuffix = ".former"
    private static let partialSuffix = ".volumes.partial"

    /// Returns the paths of the temporary folder of an output at `path` and of the files in that folder.
    public static func temporaryPaths(of path: String) -> [String] {
        let partialName = PartialName.make(for: Path.name(of: path), suffix: partialSuffix)
        return PartialFolder.pathsIncludingEntries(of: Path.entry(partialName, of: Path.folder(of: path)))
    }

    /// Creates the temporary folder.
    ///
    /// - Parameters:
    ///   - path: The path for error messages. The files are created in the same folder.
    ///   - replacing: Whether existing files of the output may be replaced. If so, all of them are removed, even if the
    ///     new output has fewer files.
    ///   - permissions: The permissions of each file, regardless of the umask.
    ///   - belongsToOutput: Returns whether a file with this name belongs to the output.
    /// - Throws: `FileError`: `create` with `EEXIST` if an existing file must not be replaced, `replace` with `EISDIR`
    ///   or `ENOTSUP` if an existing file is not a regular file, or `lock` with `EWOULDBLOCK` while another run writes
    ///   the output.
    public init(
        path: String, replacing: Bool, permissions: mode_t = 0o600,
        _ belongsToOutput: @escaping @Sendable (String) -> Bool
    ) throws(FileError) {
        let (parentPath, name) = try AtomicOutput.splitOutputPath(path)
        let parent = try Descriptor(open(parentPath, O_RDONLY | O_DIRECTORY | O_CLOEXEC), .create, path)
        let existingNames = try Self.existingNames(parent, parentPath, replacing: replacing, belongsToOutput)
        partialFolder = try Self.openPartial(parent, parentPath, name, path, belongsToOutput)
        self.path = path
        identities = Set(existingNames.compactMap { FileIdentity(path: Path.entry($0, of: parentPath)) })
        replacesExisting = replacing
        self.permissions = permissions
        self.belongsToOutput = belongsToOutput
        self.parentPath = parentPath
    }

    /// Finishes the current file and begins the file `name`.
    ///
    /// The name must be new and belong to the output.
    public mutating func begin(_ name: String) throws(FileError) {
        try finishFile()
        let file = try partialFolder.create(name, path(of: name))
        guard fchmod(file.number, permissions) == 0 else { throw FileError(.create, path(of: name)) }
        currentFile = consume file
    }

    /// Appends all bytes to the current file.
    ///
    /// - Throws: `FileError`, such as `ENOSPC`. The output must then be discarded.
    public func write(_ bytes: Span<UInt8>) throws(FileError) {
        switch currentFile {
        case .some(let file): try PartialFolder.write(bytes, to: file, path(of: partialFolder.names.last ?? ""))
        case .none: throw FileError(.write, path, code: EBADF)
        }
    }

    /// Makes the current file durable and closes it.
    private mutating func finishFile() throws(FileError) {
        guard let file = currentFile.take() else { return }
        guard fsync(file.number) == 0 else { throw FileError(.sync, path(of: partialFolder.names.last ?? "")) }
    }

    /// Makes the files durable and moves them to their final paths.
    ///
    /// - Throws: `FileError`. The previous files are then unchanged, with two exceptions. If they could not be moved
    ///   back, the message contains the path of the folder that contains them. If only the final `sync` of the folder
    ///   failed, the new files have replaced them, and the previous files are removed by the next run.
    public consuming func commit() throws(FileError) {
        try finishFile()
        try partialFolder.folder.syncFolder(path)
        // The temporary folder itself must be durable before it contains the only copy of a file.
        try partialFolder.parent.syncFolder(path)
        try publish()
    }

    private borrowing func path(of name: String) -> String { Path.entry(name, of: parentPath) }
}

// MARK: - Names

extension AtomicFiles {
    private struct Move {
        let name: String
        /// Whether the file existed before and is being replaced.
        let isReplacedFile: Bool

        /// The name of the file in the temporary folder.
        var partialName: String { isReplacedFile ? name + AtomicFiles.replacedFileSuffix : name }
    }

    private mutating func publish() throws(FileError) {
        cfiles_signals_defer()
        defer { cfiles_signals_resume() }
        guard partialFolder.cancelRemoval() else { throw FileError(.rename, path, code: EINTR) }
        var moves: [Move] = []
        do throws(FileError) {
            try moveAll(&moves)
        } catch {
            // If previous files remain in the temporary folder, the new files remain, too. Otherwise, the next run would
            // take the previous files for those of a completed output and remove them.
            guard undo(moves) else { throw restorationError(after: error) }
            if moves.isEmpty || (try? partialFolder.parent.syncFolder(path)) != nil {
                partialFolder.remove(partialFolder.names)
            }
            throw error
        }
        let replacedFiles = moves.filter(\.isReplacedFile).map(\.partialName)
        // The replaced files are the only copy until the new files are durable under their final names.
        try partialFolder.parent.syncFolder(path)
        partialFolder.remove(replacedFiles)
        // An error is ignored, because the next run removes what remains of the temporary folder.
        if !replacedFiles.isEmpty { try? partialFolder.parent.syncFolder(path) }
    }

    /// Moves the replaced files to the temporary folder, and then the new files to their final paths.
    ///
    /// The first of the replaced files is moved first, and the first of the new files is moved last. Therefore, the
    /// first file of one output is never present together with other files of another output. The folder to which files
    /// were moved is synchronized before the folder from which they came changes again, so that a power failure loses
    /// no file.
    private borrowing func moveAll(_ moves: inout [Move]) throws(FileError) {
        for name in try Self.existingNames(
            partialFolder.parent, parentPath, replacing: replacesExisting, belongsToOutput)
        {
            let move = Move(name: name, isReplacedFile: true)
            guard renameat(partialFolder.parent.number, name, partialFolder.folder.number, move.partialName) == 0 else {
                throw FileError(.rename, path(of: name))
            }
            moves.append(move)
        }
        if !moves.isEmpty { try partialFolder.folder.syncFolder(path) }
        for name in partialFolder.names.dropFirst().reversed() {
            try moveIntoPlace(name)
            moves.append(Move(name: name, isReplacedFile: false))
        }
        // The other files must be durable under their final names before the first file appears.
        try partialFolder.parent.syncFolder(path)
        guard let first = partialFolder.names.first else { return }
        try moveIntoPlace(first)
    }

    private borrowing func moveIntoPlace(_ name: String) throws(FileError) {
        let code = partialFolder.folder.rename(name, to: name, in: partialFolder.parent)
        guard code == 0 else { throw FileError(code == EEXIST ? .create : .rename, path(of: name), code: code) }
    }

    /// Undoes `moves` in reverse order, and returns whether all files were moved back.
    private borrowing func undo(_ moves: [Move]) -> Bool {
        var isUndone = true
        for move in moves.reversed() {
            let code =
                move.isReplacedFile
                ? partialFolder.folder.rename(move.partialName, to: move.name, in: partialFolder.parent)
                : partialFolder.parent.rename(move.name, to: move.name, in: partialFolder.folder)
            if code != 0 { isUndone = false }
        }
        return isUndone
    }

    private borrowing func restorationError(after error: FileError) -> FileError {
        FileError(
            error.operation, path, code: error.code,
            message: "\(error); the previous files are in \(path(of: partialFolder.name)); move them back manually")
    }

    /// Returns the sorted names of the existing files of the output.
    ///
    /// - Throws: `FileError` if one of the files must not or cannot be replaced.
    private static func existingNames(
        _ parent: borrowing Descriptor, _ parentPath: String, replacing: Bool, _ belongsToOutput: (String) -> Bool
    ) throws(FileError) -> [String] {
        let names = try PartialFolder.names(in: parent, parentPath).filter(belongsToOutput)
        for name in names {
            try AtomicOutput.checkTarget(parent, name, Path.entry(name, of: parentPath), replacing: replacing, .stat)
        }
        return names
    }

    /// Creates and locks the temporary folder.
    ///
    /// If an interrupted run left both replaced and new files in the folder, the folder is not changed and an error is
    /// thrown. If the folder contains only replaced files, they are removed, because the interrupted run had moved all
    /// new files to their final paths.
    private static func openPartial(
        _ parent: consuming Descriptor, _ parentPath: String, _ name: String, _ path: String,
        _ belongsToOutput: (String) -> Bool
    ) throws(FileError) -> PartialFolder {
        let partialName = PartialName.make(for: name, suffix: partialSuffix)
        let partialPath = Path.entry(partialName, of: parentPath)
        do throws(FileError) {
            return try PartialFolder(in: parent, partialName, partialPath, of: path) { left in
                left.allSatisfy(belongsToOutput)
                    || left.allSatisfy {
                        $0.hasSuffix(replacedFileSuffix)
                            && belongsToOutput(String($0.dropLast(replacedFileSuffix.count)))
                    }
            }
        } catch {
            guard error.code == ENOTEMPTY else { throw error }
            let words = """
                cannot create \(path): \(partialPath) contains files that an interrupted run did not restore; \
                move files named …\(replacedFileSuffix) to their old names, and remove that folder
                """
            throw FileError(.create, path, code: ENOTEMPTY, message: words)
        }
    }
}
