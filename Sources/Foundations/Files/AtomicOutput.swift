import CFiles
import Glibc

/// A new file that appears under its name complete and on disk, or not at all.
///
/// The bytes go to `.NAME.partial` in the same folder (a hash takes the place of a name that is too long for that), mode 0600, locked against other runs. `commit` makes
/// them durable and gives them their name; a value that ends without `commit` removes the temporary. A
/// temporary that a killed run left behind is emptied and used again.
///
/// ```swift
/// let output = try AtomicOutput(path: path, replacing: false)
/// try output.write(bytes.span)
/// try output.commit()
/// ```
public struct AtomicOutput: ~Copyable, Sendable {
    /// The path as given: where the file will be.
    public let path: String
    /// The temporary's device and inode, so that a walk over captures can leave it out.
    public let identity: FileIdentity
    private let replacing: Bool
    private let name: String
    private let partialName: String
    /// The path of the temporary, for a library that writes to it by its path.
    public let partialPath: String
    private let folder: Descriptor
    private let descriptor: Descriptor
    private let slot: Int32
    private var isPending = true

    /// Creates the temporary.
    ///
    /// - Parameters:
    ///   - path: where the file is to be.
    ///   - replacing: whether a regular file of that name may be replaced.
    /// - Throws: `FileError`: `EEXIST` for a file that may not be replaced; `EISDIR` or `ENOTSUP` for a name
    ///   that is not a regular file's; operation `lock` with `EWOULDBLOCK` while another run writes it; the
    ///   errors of opening the folder and the temporary.
    public init(path: String, replacing: Bool) throws(FileError) {
        let (folderPath, name) = try Self.split(path)
        let partialName = PartialName.of(name)
        let partialPath = Path.entry(partialName, of: folderPath)
        let folder = try Descriptor(open(folderPath, O_RDONLY | O_DIRECTORY | O_CLOEXEC), .create, path)
        try Self.checkTarget(folder, name, path, replacing: replacing)
        // A signal between the making of the temporary and its record would leave it behind.
        cfiles_signals_hold()
        defer { cfiles_signals_let_go() }
        let descriptor = try Self.openPartial(folder, partialName, partialPath)
        let status = try descriptor.status(partialPath)
        identity = FileIdentity(status)
        self.path = path
        self.replacing = replacing
        self.name = name
        self.partialName = partialName
        self.partialPath = partialPath
        slot = cfiles_partial_add(folder.number, partialName, path)
        self.folder = folder
        self.descriptor = descriptor
    }

    deinit {
        if isPending {
            cfiles_signals_hold()
            if cfiles_partial_take(slot) == 1 { unlinkat(folder.number, partialName, 0) }
            cfiles_signals_let_go()
        }
        cfiles_partial_release(slot)
    }

    /// The files that must not be read as input: the temporary, and the one that it will replace.
    public var identities: Set<FileIdentity> { Set([identity, FileIdentity(path: path)].compactMap(\.self)) }

    /// Appends bytes; all of them, or an error.
    ///
    /// - Throws: `FileError`, such as `ENOSPC`. The output is then of no use but to be dropped.
    public func write(_ bytes: Span<UInt8>) throws(FileError) {
        let code = bytes.writeAll(to: descriptor.number)
        guard code == 0 else { throw FileError(.write, path, code: code) }
    }

    /// Sets the permissions of the file, whatever the umask is. Without a call, they are 0600.
    public func setPermissions(_ mode: mode_t) throws(FileError) {
        guard fchmod(descriptor.number, mode) == 0 else { throw FileError(.create, path) }
    }

    /// Begins to bring to the disk what was written so far, without waiting, so that less is left for `commit`.
    public func beginSync() { cfiles_begin_sync(descriptor.number, 0, 0) }

    /// Makes the bytes durable and gives the file its name.
    ///
    /// - Throws: `FileError`: `EEXIST` when not `replacing` and a file of that name appeared meanwhile (it is
    ///   left alone); errors of `fsync` and `rename`. The temporary is gone then, except after a failed
    ///   `sync` of the folder, when the file has its name already but may not outlive a power failure.
    public consuming func commit() throws(FileError) {
        guard fsync(descriptor.number) == 0 else { throw FileError(.sync, path) }
        isPending = false
        try giveName()
        try folder.syncFolder(path)
    }

    /// Takes the temporary away from signals and renames it; no signal comes between the two.
    private borrowing func giveName() throws(FileError) {
        cfiles_signals_hold()
        defer { cfiles_signals_let_go() }
        guard cfiles_partial_take(slot) == 1 else { throw FileError(.rename, path, code: EINTR) }
        do {
            try rename()
        } catch {
            unlinkat(folder.number, partialName, 0)
            throw error
        }
    }

    private borrowing func rename() throws(FileError) {
        guard !replacing else { return try renameOver() }
        switch cfiles_rename_no_replace(folder.number, partialName, folder.number, name) {
        case 0: return
        case EINVAL, ENOSYS:
            // This file system cannot refuse to replace: claim the name first, which fails if it exists.
            let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
            _ = try Descriptor(openat(folder.number, name, flags, 0o600), .create, path)
            do {
                try renameOver()
            } catch {
                unlinkat(folder.number, name, 0)
                throw error
            }
        case let code: throw FileError(code == EEXIST ? .create : .rename, path, code: code)
        }
    }

    private borrowing func renameOver() throws(FileError) {
        guard renameat(folder.number, partialName, folder.number, name) == 0 else {
            throw FileError(.rename, path)
        }
    }
}

extension AtomicOutput {
    static func split(_ path: String) throws(FileError) -> (folder: String, name: String) {
        let name = Path.name(of: path)
        guard !path.isEmpty else { throw FileError(.create, path, code: ENOENT) }
        guard !["", ".", ".."].contains(name) else { throw FileError(.create, path, code: EISDIR) }
        guard !path.utf8.contains(0) else { throw FileError(.create, path, code: EINVAL) }
        return (Path.folder(of: path), name)
    }

    private static func checkTarget(
        _ folder: borrowing Descriptor, _ name: String, _ path: String, replacing: Bool
    ) throws(FileError) {
        var status = stat()
        guard fstatat(folder.number, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
            guard errno == ENOENT else { throw FileError(.create, path) }
            return
        }
        guard status.isRegular else {
            throw FileError(.replace, path, code: status.isFolder ? EISDIR : ENOTSUP)
        }
        guard replacing else { throw FileError(.create, path, code: EEXIST) }
    }

    /// Opens and locks the temporary. Another run may remove or rename it between our open and our lock, so
    /// that the lock is on a file without this name: then again, a few times.
    private static func openPartial(
        _ folder: borrowing Descriptor, _ name: String, _ path: String
    ) throws(FileError) -> Descriptor {
        for _ in 0..<16 {
            let flags = O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK
            let descriptor = try Descriptor(openat(folder.number, name, flags, 0o600), .create, path)
            let status = try descriptor.status(path)
            guard status.isRegular else { throw FileError(.create, path, code: ENOTSUP) }
            guard flock(descriptor.number, LOCK_EX | LOCK_NB) == 0 else { throw FileError(.lock, path) }
            var named = stat()
            guard fstatat(folder.number, name, &named, AT_SYMLINK_NOFOLLOW) == 0,
                FileIdentity(named) == FileIdentity(status)
            else { continue }
            // Somebody else's file, or one that has other names too, must not be emptied, only unlinked.
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
