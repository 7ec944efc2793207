import CFiles
import Glibc

/// A new file that appears under its name complete and durable, or not at all.
///
/// The bytes are written to the temporary file `.NAME.partial` in the same folder, which is locked against other runs.
/// `commit` makes the bytes durable and renames the file. If the value is destroyed without `commit`, the temporary
/// file is removed. A temporary file that an interrupted run left behind is emptied and reused.
///
/// ```swift
/// let output = try AtomicOutput(path: path, replacing: false)
/// try output.write(bytes.span)
/// try output.commit()
/// ```
public struct AtomicOutput: ~Copyable, Sendable {
    /// The final path of the file, as passed to the initializer.
    public let path: String
    /// The device and inode of the temporary file, so that it can be excluded from the input.
    public let identity: FileIdentity
    private let replacesExisting: Bool
    private let name: String
    private let partialName: String
    /// The path of the temporary file, for a library that opens it by its path.
    public let partialPath: String
    private let folder: Descriptor
    private let descriptor: Descriptor
    private let signalTableIndex: Int32
    private var removesFileOnDeinit = true

    /// Creates the temporary file.
    ///
    /// - Parameters:
    ///   - path: The final path of the file.
    ///   - replacing: Whether an existing regular file may be replaced.
    /// - Throws: `FileError`: `EEXIST` if the existing file must not be replaced, `EISDIR` or `ENOTSUP` if it is not a
    ///   regular file, or `lock` with `EWOULDBLOCK` while another run writes it.
    public init(path: String, replacing: Bool) throws(FileError) {
        let (folderPath, name) = try Self.splitOutputPath(path)
        let partialName = PartialName.make(for: name)
        let partialPath = Path.entry(partialName, of: folderPath)
        let folder = try Descriptor(open(folderPath, O_RDONLY | O_DIRECTORY | O_CLOEXEC), .create, path)
        try Self.checkTarget(folder, name, path, replacing: replacing)
        // A signal between the creation of the temporary file and its registration would leave the file behind.
        cfiles_signals_defer()
        defer { cfiles_signals_resume() }
        let descriptor = try Self.openPartial(folder, partialName, partialPath)
        let status = try descriptor.status(partialPath)
        identity = FileIdentity(status)
        self.path = path
        replacesExisting = replacing
        self.name = name
        self.partialName = partialName
        self.partialPath = partialPath
        signalTableIndex = cfiles_partial_add(folder.number, partialName, path)
        self.folder = folder
        self.descriptor = descriptor
    }

    deinit {
        if removesFileOnDeinit {
            cfiles_signals_defer()
            if cfiles_partial_claim(signalTableIndex) == 1 { unlinkat(folder.number, partialName, 0) }
            cfiles_signals_resume()
        }
        cfiles_partial_release(signalTableIndex)
    }

    /// Returns the paths of the files that an output at `path` creates or replaces.
    public static func replacedPaths(of path: String) -> [String] {
        [path, Path.entry(PartialName.make(for: Path.name(of: path)), of: Path.folder(of: path))]
    }

    /// The identities of the temporary file and of the file that it replaces.
    ///
    /// These files must not be read as input.
    public var identities: Set<FileIdentity> { Set([identity, FileIdentity(path: path)].compactMap(\.self)) }

    /// Appends all bytes.
    ///
    /// - Throws: `FileError`, such as `ENOSPC`. The output must then be discarded.
    public func write(_ bytes: Span<UInt8>) throws(FileError) {
        try bytes.writeAll(to: descriptor.number, .write, path)
    }

    /// Changes the owner of the file to that of its folder if the program runs as root.
    public func adoptOwnerOfFolder() throws(FileError) {
        try descriptor.adoptOwner(of: folder, partialPath)
    }

    /// Sets the permissions of the file to `mode` instead of the default 0600, regardless of the umask.
    public func setPermissions(_ mode: mode_t) throws(FileError) {
        guard fchmod(descriptor.number, mode) == 0 else { throw FileError(.create, path) }
    }

    /// Starts to write the bytes appended so far to the disk, without waiting, so that `commit` takes less time.
    public func beginSync() { cfiles_begin_sync(descriptor.number, 0, 0) }

    /// Makes the bytes durable and renames the file to its final name.
    ///
    /// - Throws: `FileError`, such as `EEXIST` if another process created the file meanwhile and it must not be
    ///   replaced. The temporary file is then removed. If only the `sync` of the folder failed, the file has its final
    ///   name, but a power failure may undo the renaming.
    public consuming func commit() throws(FileError) {
        guard fsync(descriptor.number) == 0 else { throw FileError(.sync, path) }
        removesFileOnDeinit = false
        try publish()
        try folder.syncFolder(path)
    }

    /// Unregisters the temporary file from the signal handler and renames it, while signals are deferred.
    private borrowing func publish() throws(FileError) {
        cfiles_signals_defer()
        defer { cfiles_signals_resume() }
        guard cfiles_partial_claim(signalTableIndex) == 1 else { throw FileError(.rename, path, code: EINTR) }
        do {
            try rename()
        } catch {
            unlinkat(folder.number, partialName, 0)
            throw error
        }
    }

    private borrowing func rename() throws(FileError) {
        if replacesExisting {
            guard renameat(folder.number, partialName, folder.number, name) == 0 else { throw FileError(.rename, path) }
        } else {
            let code = folder.move(partialName, to: name, in: folder)
            guard code == 0 else { throw FileError(code == EEXIST ? .create : .rename, path, code: code) }
        }
    }
}

extension AtomicOutput {
    static func splitOutputPath(_ path: String) throws(FileError) -> (folder: String, name: String) {
        let name = Path.name(of: path)
        guard !path.isEmpty else { throw FileError(.create, path, code: ENOENT) }
        guard !["", ".", ".."].contains(name) else { throw FileError(.create, path, code: EISDIR) }
        guard !path.utf8.contains(0) else { throw FileError(.create, path, code: EINVAL) }
        return (Path.folder(of: path), name)
    }

    /// Checks that no file `name` exists in `folder`, or that it can and may be replaced.
    ///
    /// `statusOperation` is the operation of the error if the status of the file cannot be determined.
    ///
    /// - Throws: `FileError`.
    static func checkTarget(
        _ folder: borrowing Descriptor, _ name: String, _ path: String, replacing: Bool,
        _ statusOperation: FileError.Operation = .create
    ) throws(FileError) {
        guard let status = folder.status(of: name) else {
            guard errno == ENOENT else { throw FileError(statusOperation, path) }
            return
        }
        guard status.isRegular else {
            throw FileError(.replace, path, code: status.isFolder ? EISDIR : ENOTSUP)
        }
        guard replacing else { throw FileError(.create, path, code: EEXIST) }
    }

    /// Opens and locks the temporary file.
    ///
    /// The attempt is repeated if another run removed or renamed the file before it was locked.
    private static func openPartial(
        _ folder: borrowing Descriptor, _ name: String, _ path: String
    ) throws(FileError) -> Descriptor {
        for _ in 0..<16 {
            let flags = O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK
            let descriptor = try Descriptor(openat(folder.number, name, flags, 0o600), .create, path)
            let status = try descriptor.status(path)
            guard status.isRegular else { throw FileError(.create, path, code: ENOTSUP) }
            guard flock(descriptor.number, LOCK_EX | LOCK_NB) == 0 else { throw FileError(.lock, path) }
            guard let named = folder.status(of: name), FileIdentity(named) == FileIdentity(status) else { continue }
            // A file that has another owner or further hard links must not be truncated. Instead, only this name of the
            // file is removed.
            guard status.st_uid == geteuid(), named.st_nlink == 1 else {
                guard unlinkat(folder.number, name, 0) == 0 else { throw FileError(.remove, path) }
                continue
            }
            guard ftruncate(descriptor.number, 0) == 0, fchmod(descriptor.number, 0o600) == 0 else {
                throw FileError(.create, path)
            }
            return descriptor
        }
        throw FileError(.lock, path, code: EWOULDBLOCK)
    }
}

extension AtomicOutput {
    /// Removes the empty temporary files that killed runs of this user have left in the folder of `path`, for outputs with
    /// the same filename extension.
    ///
    /// A temporary file is named after its output, so that a run with another output does not replace it. Errors are
    /// ignored, because the files do no harm and the next run tries again.
    public static func removeAbandoned(inFolderOf path: String) {
        guard
            let folder = try? Descriptor(open(Path.folder(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC), .open, path),
            let entries = try? folder.entries(path)
        else { return }
        for entry in entries where entry.kind == .file {
            guard let name = String(validating: entry.name, as: UTF8.self),
                PartialName.isPartial(name, ofOutputLike: path),
                let file = try? Descriptor(
                    openat(folder.number, name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC), .open, name),
                // A run that is still writing the file has locked it.
                flock(file.number, LOCK_EX | LOCK_NB) == 0, let status = try? file.status(name)
            else { continue }
            if status.isRegular, status.st_size == 0, status.st_uid == geteuid() { unlinkat(folder.number, name, 0) }
        }
    }
}
