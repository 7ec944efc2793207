import CFiles
import Glibc

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
    private let replacing: Bool
    private let names: [String]
    private let name: String
    private let partialPath: String
    private var partial: PartialFolder
    private let files: [NewFile]

    private final class NewFile: Sendable {
        let descriptor: Descriptor

        init(_ descriptor: consuming Descriptor) { self.descriptor = descriptor }
    }

    /// Creates the temporary folder and its files.
    ///
    /// - Parameters:
    ///   - path: The final path of the folder. Trailing slashes are ignored.
    ///   - names: The names of the files.
    ///   - replacing: Whether an existing folder may be replaced if it contains only files with these names.
    /// - Throws: `FileError`: `create` with `EEXIST` if the existing folder must not be replaced, `replace` with
    ///   `ENOTDIR` if it is not a folder or `ENOTEMPTY` if it contains other files, or `lock` with `EWOULDBLOCK` while
    ///   another run writes it.
    public init(path: String, files names: [String], replacing: Bool) throws(FileError) {
        let path = Path.withoutTrailingSlashes(path)
        let (parentPath, name) = try AtomicOutput.split(path)
        let partialName = PartialName.of(name)
        let parent = try Descriptor(open(parentPath, O_RDONLY | O_DIRECTORY | O_CLOEXEC), .create, path)
        try Self.checkTarget(parent, name, names, path, replacing: replacing)
        let partialPath = Path.entry(partialName, of: parentPath)
        var partial = try PartialFolder(in: parent, partialName, partialPath, of: path) {
            $0.allSatisfy(names.contains)
        }
        var files: [NewFile] = []
        for fileName in names { files.append(NewFile(try partial.create(fileName, path))) }
        self.path = path
        self.replacing = replacing
        self.names = names
        self.name = name
        self.partialPath = partialPath
        self.partial = partial
        self.files = files
    }

    /// The identities of the files that must not be read as input.
    public var identities: Set<FileIdentity> {
        let new = files.compactMap { try? $0.descriptor.status(path) }.map { FileIdentity($0) }
        return Set(new + names.compactMap { FileIdentity(path: "\(path)/\($0)") })
    }

    /// Appends all bytes to the file whose name has the index `file` in the names that were passed to the initializer.
    ///
    /// - Throws: `FileError`, such as `ENOSPC`. The output must then be discarded.
    public func write(_ bytes: Span<UInt8>, to file: Int) throws(FileError) {
        try PartialFolder.write(bytes, to: files[file].descriptor, path)
    }

    /// Makes the files durable and renames the folder to its final name.
    ///
    /// - Throws: `FileError`, as `AtomicOutput.commit`. The temporary folder is then removed, unless the final `sync`
    ///   failed or the replaced folder could not be removed. In the latter case, the message contains both paths.
    public consuming func commit() throws(FileError) {
        for file in files {
            guard fsync(file.descriptor.number) == 0 else { throw FileError(.sync, path) }
        }
        try partial.folder.syncFolder(path)
        try publish()
        try partial.parent.syncFolder(path)
    }

    private mutating func publish() throws(FileError) {
        cfiles_signals_defer()
        defer { cfiles_signals_resume() }
        guard partial.claim() else { throw FileError(.rename, path, code: EINTR) }
        var status = stat()
        if replacing, fstatat(partial.parent.number, name, &status, AT_SYMLINK_NOFOLLOW) == 0 { return try replace() }
        do throws(FileError) {
            try rename()
        } catch {
            partial.remove(names)
            throw error
        }
    }

    private borrowing func rename() throws(FileError) {
        let parent = partial.parent.number
        switch cfiles_rename_no_replace(parent, partial.name, parent, name) {
        case 0: return
        case EINVAL, ENOSYS:
            // This file system does not support renaming without replacement, but renaming never replaces a folder that
            // is not empty.
            guard renameat(parent, partial.name, parent, name) == 0 else { throw FileError(.rename, path) }
        case let code: throw FileError(code == EEXIST ? .create : .rename, path, code: code)
        }
    }

    /// Replaces the old folder with the new one and removes the old files.
    ///
    /// Once the removal of old files has begun, the new files are kept even if an error is thrown, because only they
    /// are complete.
    private borrowing func replace() throws(FileError) {
        let old = try openReplaced()
        let isExchanged = try exchange()
        PartialFolder.remove(names, from: old)
        if isExchanged {
            guard unlinkat(partial.parent.number, partial.name, AT_REMOVEDIR) == 0 else {
                throw incompleteReplacement(
                    .remove, "the new files are in \(path), and the rest of the old folder is in \(partialPath)")
            }
        } else {
            guard renameat(partial.parent.number, partial.name, partial.parent.number, name) == 0 else {
                throw incompleteReplacement(.rename, "the new files are in \(partialPath); rename that folder manually")
            }
        }
    }

    /// Opens the folder to replace, or removes the new folder and throws an error.
    ///
    /// The folder is checked again, because other files may have been added since the first check.
    private borrowing func openReplaced() throws(FileError) -> Descriptor {
        do throws(FileError) {
            try Self.checkTarget(partial.parent, name, names, path, replacing: true)
            let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
            return try Descriptor(openat(partial.parent.number, name, flags), .replace, path)
        } catch {
            partial.remove(names)
            throw error
        }
    }

    /// Exchanges the names of the new folder and the old one, and returns whether the file system supports that.
    ///
    /// - Throws: `FileError`, after the removal of the new folder.
    private borrowing func exchange() throws(FileError) -> Bool {
        switch cfiles_rename_exchange(partial.parent.number, partial.name, name) {
        case 0: return true
        case EINVAL, ENOSYS: return false
        case let code:
            partial.remove(names)
            throw FileError(.rename, path, code: code)
        }
    }

    private borrowing func incompleteReplacement(_ operation: FileError.Operation, _ remedy: String) -> FileError {
        let error = FileError(operation, path)
        return FileError(operation, path, code: error.code, saying: "\(error); \(remedy)")
    }
}

extension AtomicFolder {
    private static func checkTarget(
        _ parent: borrowing Descriptor, _ name: String, _ names: [String], _ path: String, replacing: Bool
    ) throws(FileError) {
        var status = stat()
        guard fstatat(parent.number, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
            guard errno == ENOENT else { throw FileError(.create, path) }
            return
        }
        guard replacing else { throw FileError(.create, path, code: EEXIST) }
        guard status.isFolder else { throw FileError(.replace, path, code: ENOTDIR) }
        let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
        let folder = try Descriptor(openat(parent.number, name, flags), .replace, path)
        guard try PartialFolder.containsOnlyFiles(in: folder, named: names.contains, path) else {
            throw FileError(.replace, path, code: ENOTEMPTY)
        }
    }
}
