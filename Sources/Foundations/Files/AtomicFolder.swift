import CFiles
import CLibrary

/// A new folder of files that appears under its name complete and durable, or not at all.
///
/// The files are written to the temporary folder `.NAME.partial`, which is locked against other runs. `commit` makes
/// the files durable and renames the folder. If the value is destroyed without `commit`, the folder is removed.
///
/// ```swift
/// let output = try AtomicFolder(path: path, files: ["events.csv", "records.csv"], replacing: false)
/// try output.write(bytes.span, to: 0)
/// try output.commit()
/// ```
public struct AtomicFolder: ~Copyable, Sendable {
    /// The final path of the folder, without trailing slashes.
    public let path: String
    private let replacesExisting: Bool
    /// Returns whether an existing file with this name may be replaced.
    private let ownsName: @Sendable (String) -> Bool
    private let name: String
    /// The name to which the old folder is renamed if the file system cannot exchange two names.
    private let formerName: String
    private let partialPath: String
    private var partialFolder: PartialFolder
    private var files: [NewFile]

    private final class NewFile: Sendable {
        let descriptor: Descriptor

        init(_ descriptor: consuming Descriptor) { self.descriptor = descriptor }
    }

    /// Creates the temporary folder and its files.
    ///
    /// - Parameters:
    ///   - path: The final path of the folder. Trailing slashes are ignored.
    ///   - names: The names of the first files.
    ///   - replacing: Whether an existing folder may be replaced if `ownsName` returns `true` for all names in it.
    ///   - ownsName: Returns whether an output of this kind can contain a file with the given name. By default, these are
    ///     the files with the given names.
    /// - Throws: `FileError`: `create` with `EEXIST` if the existing folder must not be replaced, `replace` with
    ///   `ENOTDIR` if it is not a folder or `ENOTEMPTY` if it contains other files, or `lock` with `EWOULDBLOCK` while
    ///   another run writes it.
    public init(
        path: String, files names: [String] = [], replacing: Bool, owning ownsName: (@Sendable (String) -> Bool)? = nil
    ) throws(FileError) {
        let ownsName = ownsName ?? { names.contains($0) }
        let path = Path.withoutTrailingSlashes(path)
        let (parentPath, name) = try AtomicOutput.splitOutputPath(path)
        let partialName = PartialName.make(for: name)
        let formerName = PartialName.make(for: name, suffix: Self.formerSuffix)
        let parent = try Descriptor(open(parentPath, O_RDONLY | O_DIRECTORY | O_CLOEXEC), .create, path)
        try Self.checkTarget(parent, name, ownsName, path, replacing: replacing)
        let partialPath = Path.entry(partialName, of: parentPath)
        var partialFolder = try PartialFolder(in: parent, partialName, partialPath, of: path) {
            $0.allSatisfy(ownsName)
        }
        try Self.finishReplacement(partialFolder.parent, name, formerName, ownsName, path)
        try Self.checkTarget(partialFolder.parent, name, ownsName, path, replacing: replacing)
        var files: [NewFile] = []
        for fileName in names { files.append(NewFile(try partialFolder.create(fileName, path))) }
        self.path = path
        replacesExisting = replacing
        self.ownsName = ownsName
        self.name = name
        self.formerName = formerName
        self.partialPath = partialPath
        self.partialFolder = partialFolder
        self.files = files
    }

    /// Creates an empty file, and returns its index.
    public mutating func addFile(_ name: String) throws(FileError) -> Int {
        files.append(NewFile(try partialFolder.create(name, path)))
        return files.count - 1
    }

    /// Creates a file with the given contents, which stays open only until they are durable.
    public mutating func addFile(_ name: String, contents: [UInt8]) throws(FileError) {
        let file = try partialFolder.create(name, path)
        try PartialFolder.write(contents.span, to: file, path)
        guard fsync(file.number) == 0 else { throw FileError(.sync, path) }
    }

    /// Returns the paths of the files and folders that an output at `path` creates, replaces or removes.
    public static func replacedPaths(of path: String) -> [String] {
        let path = Path.withoutTrailingSlashes(path)
        let (parentPath, name) = (Path.folder(of: path), Path.name(of: path))
        let temporaryNames = [PartialName.make(for: name), PartialName.make(for: name, suffix: formerSuffix)]
        return ([path] + temporaryNames.map { Path.entry($0, of: parentPath) })
            .flatMap(PartialFolder.pathsIncludingEntries)
    }

    /// The suffix of the name to which the old folder is renamed if the file system cannot exchange two names.
    private static let formerSuffix = ".former.partial"

    /// The identities of the files so far and of the files that are replaced, which must not be read as input.
    public var identities: Set<FileIdentity> {
        let new = files.compactMap { try? $0.descriptor.status(path) }.map { FileIdentity($0) }
        let old = PartialFolder.pathsIncludingEntries(of: path).dropFirst()
        return Set(new + old.filter { ownsName(Path.name(of: $0)) }.compactMap { FileIdentity(path: $0) })
    }

    /// Appends `bytes` to the file with the index `file`, in the order in which files were created.
    ///
    /// - Throws: `FileError`, such as `ENOSPC`. The output must then be discarded.
    public func write(_ bytes: Span<UInt8>, to file: Int) throws(FileError) {
        try PartialFolder.write(bytes, to: files[file].descriptor, path)
    }

    /// Makes the files durable and renames the folder to its final name.
    ///
    /// - Throws: `FileError`, as `AtomicOutput.commit`. The temporary folder is then removed, unless the new folder
    ///   already has its final name or the removal of the old files has begun. If an old folder was only partly
    ///   replaced, the message states where the files are.
    public consuming func commit() throws(FileError) {
        for file in files {
            guard fsync(file.descriptor.number) == 0 else { throw FileError(.sync, path) }
        }
        try partialFolder.folder.syncFolder(path)
        try publish()
    }

    private mutating func publish() throws(FileError) {
        cfiles_signals_defer()
        defer { cfiles_signals_resume() }
        guard partialFolder.cancelRemoval() else { throw FileError(.rename, path, code: EINTR) }
        if replacesExisting, partialFolder.parent.status(of: name) != nil { return try replace() }
        do throws(FileError) {
            try rename()
        } catch {
            partialFolder.remove(partialFolder.names)
            throw error
        }
        try partialFolder.parent.syncFolder(path)
    }

    private borrowing func rename() throws(FileError) {
        let parent = partialFolder.parent.number
        switch cfiles_rename_no_replace(parent, partialFolder.name, parent, name) {
        case 0: return
        case EINVAL, ENOSYS:
            // This file system does not support renaming without replacement, but renaming never replaces a folder that
            // is not empty.
            guard renameat(parent, partialFolder.name, parent, name) == 0 else { throw FileError(.rename, path) }
        case let code: throw FileError(code == EEXIST ? .create : .rename, path, code: code)
        }
    }

    /// Replaces the old folder with the new one, makes that durable, and removes the old files.
    ///
    /// From the first renaming on, the new files are kept even if an error is thrown.
    private borrowing func replace() throws(FileError) {
        let old = try openFolderToReplace()
        let oldName = try exchangeFolders() ? partialFolder.name : try replaceInTwoSteps()
        // After a power failure before this point, the old folder can still be the complete output.
        try partialFolder.parent.syncFolder(path)
        let oldNames = try PartialFolder.names(in: old, path).filter(ownsName)
        PartialFolder.remove(oldNames, from: old)
        guard unlinkat(partialFolder.parent.number, oldName, AT_REMOVEDIR) == 0 else {
            let oldPath = Path.entry(oldName, of: Path.folder(of: path))
            throw incompleteReplacementError(
                .remove, "the new files are in \(path), and the rest of the old folder is in \(oldPath)")
        }
        // An error is ignored, because the next run removes the old folder if it appears again.
        try? partialFolder.parent.syncFolder(path)
    }

    /// Renames the old folder to ``formerName`` and the new folder to its final name, and returns ``formerName``.
    private borrowing func replaceInTwoSteps() throws(FileError) -> String {
        let parent = partialFolder.parent.number
        guard renameat(parent, name, parent, formerName) == 0 else {
            let error = FileError(.rename, path)
            partialFolder.remove(partialFolder.names)
            throw error
        }
        guard renameat(parent, partialFolder.name, parent, name) == 0 else {
            let error = incompleteReplacementError(
                .rename, "the new files are in \(partialPath); rename that folder manually")
            // If this fails, the next run renames the old folder.
            _ = renameat(parent, formerName, parent, name)
            throw error
        }
        return formerName
    }

    /// Opens the folder to replace, after checking again that it may be replaced.
    ///
    /// Other files may have been added since the first check. If the folder cannot be replaced, the new folder is
    /// removed and an error is thrown.
    private borrowing func openFolderToReplace() throws(FileError) -> Descriptor {
        do throws(FileError) {
            try Self.checkTarget(partialFolder.parent, name, ownsName, path, replacing: true)
            return try partialFolder.parent.folder(name, .replace, path)
        } catch {
            partialFolder.remove(partialFolder.names)
            throw error
        }
    }

    /// Exchanges the names of the new folder and the old folder, and returns whether the file system supports the
    /// exchange.
    ///
    /// - Throws: `FileError` if the exchange fails for any other reason. The new folder is then removed.
    private borrowing func exchangeFolders() throws(FileError) -> Bool {
        switch cfiles_rename_exchange(partialFolder.parent.number, partialFolder.name, name) {
        case 0: return true
        case EINVAL, ENOSYS: return false
        case let code:
            partialFolder.remove(partialFolder.names)
            throw FileError(.rename, path, code: code)
        }
    }

    private borrowing func incompleteReplacementError(_ operation: FileError.Operation, _ remedy: String) -> FileError {
        let error = FileError(operation, path)
        return FileError(operation, path, code: error.code, message: "\(error); \(remedy)")
    }
}

extension AtomicFolder {
    /// Finishes or undoes the replacement of a folder that an interrupted run began with ``replaceInTwoSteps()``.
    ///
    /// The old folder gets its name back, or is removed if the new folder has its name.
    private static func finishReplacement(
        _ parent: borrowing Descriptor, _ name: String, _ formerName: String, _ ownsName: (String) -> Bool,
        _ path: String
    ) throws(FileError) {
        guard parent.status(of: formerName) != nil || errno != ENOENT else { return }
        let former = try parent.folder(formerName, .create, path)
        if parent.rename(formerName, to: name, in: parent) == 0 { return try parent.syncFolder(path) }
        guard parent.status(of: name)?.isFolder == true,
            try PartialFolder.containsOnlyFiles(in: former, named: ownsName, path)
        else {
            throw FileError(.create, path, code: ENOTEMPTY)
        }
        try parent.syncFolder(path)
        PartialFolder.remove(try PartialFolder.names(in: former, path).filter(ownsName), from: former)
        guard unlinkat(parent.number, formerName, AT_REMOVEDIR) == 0 else { throw FileError(.remove, path) }
    }

    private static func checkTarget(
        _ parent: borrowing Descriptor, _ name: String, _ ownsName: (String) -> Bool, _ path: String, replacing: Bool
    ) throws(FileError) {
        guard let status = parent.status(of: name) else {
            guard errno == ENOENT else { throw FileError(.create, path) }
            return
        }
        guard replacing else { throw FileError(.create, path, code: EEXIST) }
        guard status.isFolder else { throw FileError(.replace, path, code: ENOTDIR) }
        let folder = try parent.folder(name, .replace, path)
        guard try PartialFolder.containsOnlyFiles(in: folder, named: ownsName, path) else {
            throw FileError(.replace, path, code: ENOTEMPTY)
        }
    }
}
