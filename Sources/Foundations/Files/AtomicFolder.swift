import CFiles
import Glibc

/// A new folder of files that appears under its name complete and on disk, or not at all.
///
/// The files are made in `.NAME.partial` beside it, mode 0600, and the folder is locked against other runs. `commit` makes
/// everything durable and gives the folder its name; a value that ends without `commit` removes it. A folder that a killed
/// run left behind is emptied and used again.
///
/// ```swift
/// let output = try AtomicFolder(path: path, files: ["events.csv", "records.csv"], replacing: false)
/// try output.write(bytes.span, to: 0)
/// try output.commit()
/// ```
public struct AtomicFolder: ~Copyable, Sendable {
    /// The path without a slash at its end: where the folder will be.
    public let path: String
    private let replacing: Bool
    private let names: [String]
    private let name: String
    private let partialPath: String
    private var partial: PartialFolder
    private let files: [NewFile]

    /// An open file of the folder.
    private final class NewFile: Sendable {
        let descriptor: Descriptor

        init(_ descriptor: consuming Descriptor) { self.descriptor = descriptor }
    }

    /// Creates the temporary folder and its files.
    ///
    /// - Parameters:
    ///   - path: where the folder is to be; a slash at the end does not count.
    ///   - names: the names of its files.
    ///   - replacing: whether a folder that has nothing but files of these names may be replaced.
    /// - Throws: `FileError`: of `create` with `EEXIST` for what may not be replaced; of `replace` with `ENOTDIR` for what is no
    ///   folder and with `ENOTEMPTY` for a folder with something else in it; of `lock` with `EWOULDBLOCK` while another run
    ///   writes it; the errors of making folder and files.
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
        for name in names { files.append(NewFile(try partial.create(name, path))) }
        self.path = path
        self.replacing = replacing
        self.names = names
        self.name = name
        self.partialPath = partialPath
        self.partial = partial
        self.files = files
    }

    /// The files that must not be read as input.
    public var identities: Set<FileIdentity> {
        var identities: Set<FileIdentity> = []
        for file in files {
            var status = stat()
            if fstat(file.descriptor.number, &status) == 0 { identities.insert(FileIdentity(status)) }
        }
        for name in names {
            if let identity = FileIdentity(path: "\(path)/\(name)") { identities.insert(identity) }
        }
        return identities
    }

    /// Appends bytes to a file; all of them, or an error.
    /// - Parameter file: the place of its name among those given.
    /// - Throws: `FileError`, such as `ENOSPC`. The output is then of no use but to be dropped.
    public func write(_ bytes: Span<UInt8>, to file: Int) throws(FileError) {
        try PartialFolder.write(bytes, to: files[file].descriptor, path)
    }

    /// Makes the bytes durable and gives the folder its name.
    /// - Throws: `FileError` as `AtomicOutput.commit`. The temporary is gone then, except after a failed `sync` of the folder
    ///   that it stands in, and after a replaced folder could not be removed: the message then names both folders.
    public consuming func commit() throws(FileError) {
        for file in files {
            guard fsync(file.descriptor.number) == 0 else { throw FileError(.sync, path) }
        }
        try partial.folder.syncFolder(path)
        try giveName()
        try partial.parent.syncFolder(path)
    }

    private mutating func giveName() throws(FileError) {
        cfiles_signals_hold()
        defer { cfiles_signals_let_go() }
        guard partial.take() else { throw FileError(.rename, path, code: EINTR) }
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
            // This file system cannot refuse to replace. A folder never takes the place of one that has something in it.
            guard renameat(parent, partial.name, parent, name) == 0 else { throw FileError(.rename, path) }
        case let code: throw FileError(code == EEXIST ? .create : .rename, path, code: code)
        }
    }

    /// Puts the new folder in the place of the old one, and removes the old one.
    ///
    /// Once the removal of the old files has begun, the new files are kept even if an error is thrown, because they are the only
    /// complete ones.
    private borrowing func replace() throws(FileError) {
        let old = try openReplaced()
        let isExchanged = try exchange()
        PartialFolder.remove(names, from: old)
        if isExchanged {
            guard unlinkat(partial.parent.number, partial.name, AT_REMOVEDIR) == 0 else {
                throw kept(.remove, "the new files are in \(path), and the rest of the old folder is in \(partialPath)")
            }
        } else {
            guard renameat(partial.parent.number, partial.name, partial.parent.number, name) == 0 else {
                throw kept(.rename, "the new files are in \(partialPath), rename it by hand")
            }
        }
    }

    /// Opens the folder that is to be replaced. Other files may have been put there since it was checked first.
    ///
    /// - Throws: `FileError`, after the removal of the new folder.
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

    /// Exchanges the names of the new folder and the old one.
    ///
    /// - Returns: Whether the file system can do that.
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

    private borrowing func kept(_ operation: FileError.Operation, _ remedy: String) -> FileError {
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
        guard try PartialFolder.holds(folder, onlyFilesOf: names.contains, path) else {
            throw FileError(.replace, path, code: ENOTEMPTY)
        }
    }
}
