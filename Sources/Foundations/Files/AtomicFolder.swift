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
    private let partialName: String
    private let partialPath: String
    private let parent: Descriptor
    private let folder: Descriptor
    private let files: [NewFile]
    private let slot: Int32
    private var isPending = true

    /// Pieces of this many bytes go to the disk at once.
    private static let syncedSize = 64 << 10

    /// A file of the folder.
    private final class NewFile: Sendable {
        let descriptor: Descriptor
        let slot: Int32

        init(_ descriptor: consuming Descriptor, slot: Int32) {
            self.descriptor = descriptor
            self.slot = slot
        }
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
        let partialPath = parentPath == "." ? partialName : "\(parentPath)/\(partialName)"
        let parent = try Descriptor(open(parentPath, O_RDONLY | O_DIRECTORY | O_CLOEXEC), .create, path)
        try Self.checkTarget(parent, name, names, path, replacing: replacing)
        cfiles_signals_hold()
        defer { cfiles_signals_let_go() }
        let folder = try PartialFolder.open(parent, partialName, partialPath) { $0.allSatisfy(names.contains) }
        var files: [NewFile] = []
        do throws(FileError) {
            for fileName in names {
                let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
                let descriptor = try Descriptor(openat(folder.number, fileName, flags, 0o600), .create, path)
                files.append(NewFile(descriptor, slot: cfiles_partial_add(folder.number, fileName, "")))
            }
        } catch {
            for file in files { cfiles_partial_release(file.slot) }
            PartialFolder.remove(names, from: folder)
            unlinkat(parent.number, partialName, AT_REMOVEDIR)
            throw error
        }
        self.path = path
        self.replacing = replacing
        self.names = names
        self.name = name
        self.partialName = partialName
        self.partialPath = partialPath
        slot = cfiles_partial_add_folder(parent.number, partialName, path)
        self.files = files
        self.parent = parent
        self.folder = folder
    }

    deinit {
        if isPending {
            cfiles_signals_hold()
            if takeFromSignals() { remove() }
            cfiles_signals_let_go()
        }
        for file in files { cfiles_partial_release(file.slot) }
        cfiles_partial_release(slot)
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
        let number = files[file].descriptor.number
        let code = bytes.writeAll(to: number)
        guard code == 0 else { throw FileError(.write, path, code: code) }
        let end = lseek(number, 0, SEEK_CUR)
        // The disk has time until all is written.
        if bytes.count >= Self.syncedSize { cfiles_begin_sync(number, Int64(end - bytes.count), Int64(bytes.count)) }
    }

    /// Makes the bytes durable and gives the folder its name.
    /// - Throws: `FileError` as `AtomicOutput.commit`. The temporary is gone then, except after a failed `sync` of the folder
    ///   that it stands in, and after a replaced folder could not be removed: the message then names both folders.
    public consuming func commit() throws(FileError) {
        for file in files {
            guard fsync(file.descriptor.number) == 0 else { throw FileError(.sync, path) }
        }
        guard fsync(folder.number) == 0 || errno == EINVAL else { throw FileError(.sync, path) }
        isPending = false
        try giveName()
        guard fsync(parent.number) == 0 || errno == EINVAL else { throw FileError(.sync, path) }
    }

    private borrowing func giveName() throws(FileError) {
        cfiles_signals_hold()
        defer { cfiles_signals_let_go() }
        guard takeFromSignals() else { throw FileError(.rename, path, code: EINTR) }
        var status = stat()
        if replacing, fstatat(parent.number, name, &status, AT_SYMLINK_NOFOLLOW) == 0 { return try replace() }
        do throws(FileError) {
            try rename()
        } catch {
            remove()
            throw error
        }
    }

    private borrowing func rename() throws(FileError) {
        switch cfiles_rename_no_replace(parent.number, partialName, parent.number, name) {
        case 0: return
        case EINVAL, ENOSYS:
            // This file system cannot refuse to replace. A folder never takes the place of one that has something in it.
            guard renameat(parent.number, partialName, parent.number, name) == 0 else { throw FileError(.rename, path) }
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
            guard unlinkat(parent.number, partialName, AT_REMOVEDIR) == 0 else {
                throw kept(.remove, "the new files are in \(path), and the rest of the old folder is in \(partialPath)")
            }
        } else {
            guard renameat(parent.number, partialName, parent.number, name) == 0 else {
                throw kept(.rename, "the new files are in \(partialPath), rename it by hand")
            }
        }
    }

    /// Opens the folder that is to be replaced. Other files may have been put there since it was checked first.
    ///
    /// - Throws: `FileError`, after the removal of the new folder.
    private borrowing func openReplaced() throws(FileError) -> Descriptor {
        do throws(FileError) {
            try Self.checkTarget(parent, name, names, path, replacing: true)
            let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
            return try Descriptor(openat(parent.number, name, flags), .replace, path)
        } catch {
            remove()
            throw error
        }
    }

    /// Exchanges the names of the new folder and the old one.
    ///
    /// - Returns: Whether the file system can do that.
    /// - Throws: `FileError`, after the removal of the new folder.
    private borrowing func exchange() throws(FileError) -> Bool {
        switch cfiles_rename_exchange(parent.number, partialName, name) {
        case 0: return true
        case EINVAL, ENOSYS: return false
        case let code:
            remove()
            throw FileError(.rename, path, code: code)
        }
    }

    private borrowing func kept(_ operation: FileError.Operation, _ remedy: String) -> FileError {
        let error = FileError(operation, path)
        return FileError(operation, path, code: error.code, saying: "\(error); \(remedy)")
    }

    /// Takes everything away from the signal handler; false if a signal has removed it.
    private borrowing func takeFromSignals() -> Bool {
        var isOurs = cfiles_partial_take(slot) == 1
        for file in files where cfiles_partial_take(file.slot) != 1 { isOurs = false }
        return isOurs
    }

    private borrowing func remove() {
        PartialFolder.remove(names, from: folder)
        unlinkat(parent.number, partialName, AT_REMOVEDIR)
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
