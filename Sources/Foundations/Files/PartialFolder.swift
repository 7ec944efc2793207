import CFiles
import Glibc

/// The temporary folder in which an output of several files is made.
///
/// The folder and its files are removed with the value, unless ``take()`` was called.
struct PartialFolder: ~Copyable, Sendable {
    /// A file in the folder.
    struct File: Sendable {
        let name: String
        /// The number by which the signal handler removes the file.
        let slot: Int32
    }

    /// The folder that contains this one.
    let parent: Descriptor
    /// The folder itself.
    let folder: Descriptor
    /// The name of the folder.
    let name: String
    private let slot: Int32
    private var files: [File] = []
    private var isPending = true

    /// Pieces of this many bytes go to the disk at once.
    private static let syncedSize = 64 << 10

    /// Makes and locks the folder, or takes over one that a killed run left behind.
    /// - Parameters:
    ///   - path: The path of the folder, for messages.
    ///   - output: The path of the output, which the signal handler reports.
    ///   - mayRemove: Returns whether all files in a folder that was left behind may be removed.
    /// - Throws: `FileError`, as `open`.
    init(
        in parent: consuming Descriptor, _ name: String, _ path: String, of output: String,
        removing mayRemove: ([String]) -> Bool
    ) throws(FileError) {
        cfiles_signals_hold()
        defer { cfiles_signals_let_go() }
        folder = try Self.open(parent, name, path, removing: mayRemove)
        slot = cfiles_partial_add_folder(parent.number, name, output)
        self.name = name
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

    /// The names of the files, in the order of their creation.
    var names: [String] { files.map(\.name) }

    /// Creates a file. The folder must not contain a file of that name.
    mutating func create(_ name: String, _ path: String) throws(FileError) -> Descriptor {
        cfiles_signals_hold()
        defer { cfiles_signals_let_go() }
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        let file = try Descriptor(openat(folder.number, name, flags, 0o600), .create, path)
        files.append(File(name: name, slot: cfiles_partial_add(folder.number, name, "")))
        return file
    }

    /// Appends bytes to a file of the folder; all of them, or an error.
    static func write(
        _ bytes: Span<UInt8>, to file: borrowing Descriptor, _ path: @autoclosure () -> String
    ) throws(FileError) {
        let code = bytes.writeAll(to: file.number)
        guard code == 0 else { throw FileError(.write, path(), code: code) }
        // The disk has time until all is written.
        guard bytes.count >= syncedSize else { return }
        let end = lseek(file.number, 0, SEEK_CUR)
        cfiles_begin_sync(file.number, Int64(end - bytes.count), Int64(bytes.count))
    }

    /// Takes everything away from the signal handler, so that it can be given its names. Returns `false` if a signal has removed
    /// it.
    mutating func take() -> Bool {
        isPending = false
        return takeFromSignals()
    }

    private func takeFromSignals() -> Bool {
        var isOurs = cfiles_partial_take(slot) == 1
        for file in files where cfiles_partial_take(file.slot) != 1 { isOurs = false }
        return isOurs
    }

    /// Removes files and the folder, if nothing else is in it.
    func remove(_ names: [String]) {
        Self.remove(names, from: folder)
        unlinkat(parent.number, name, AT_REMOVEDIR)
    }

    /// Makes and locks the folder, or takes over one that a killed run left behind, and empties that.
    /// - Parameters:
    ///   - name: its name in the folder that it stands in.
    ///   - path: what messages call it.
    ///   - mayRemove: whether files of these names, all that are in it, may be removed.
    /// - Throws: `FileError`: of `lock` with `EWOULDBLOCK` while another run has it; `ENOTEMPTY` if there is anything else in it.
    private static func open(
        _ parent: borrowing Descriptor, _ name: String, _ path: String, removing mayRemove: ([String]) -> Bool
    ) throws(FileError) -> Descriptor {
        for _ in 0..<16 {
            guard mkdirat(parent.number, name, 0o700) == 0 || errno == EEXIST else { throw FileError(.create, path) }
            let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
            let folder = try Descriptor(openat(parent.number, name, flags), .create, path)
            guard flock(folder.number, LOCK_EX | LOCK_NB) == 0 else { throw FileError(.lock, path) }
            // Another run may have removed or renamed it between our two calls.
            var named = stat()
            let status = try folder.status(path)
            guard fstatat(parent.number, name, &named, AT_SYMLINK_NOFOLLOW) == 0,
                FileIdentity(named) == FileIdentity(status)
            else { continue }
            let left = try names(in: folder, path)
            guard status.st_uid == geteuid(), mayRemove(left), try holds(folder, onlyFilesOf: left.contains, path)
            else { throw FileError(.create, path, code: ENOTEMPTY) }
            remove(left, from: folder)
            return folder
        }
        throw FileError(.lock, path, code: EWOULDBLOCK)
    }

    /// Whether a folder has nothing but regular files of some names.
    static func holds(
        _ folder: borrowing Descriptor, onlyFilesOf isKnown: (String) -> Bool, _ path: String
    ) throws(FileError) -> Bool {
        for name in try names(in: folder, path) {
            var status = stat()
            guard isKnown(name), fstatat(folder.number, name, &status, AT_SYMLINK_NOFOLLOW) == 0, status.isRegular
            else { return false }
        }
        return true
    }

    /// Returns the sorted names of the entries of a folder. Bytes that are not UTF-8 are replaced.
    static func names(in folder: borrowing Descriptor, _ path: String) throws(FileError) -> [String] {
        let entries = try FolderEntries(of: folder, path)
        return (0..<entries.count).map { String(decoding: entries.bytes($0), as: UTF8.self) }.sorted()
    }

    /// Removes files.
    static func remove(_ names: [String], from folder: borrowing Descriptor) {
        for name in names { unlinkat(folder.number, name, 0) }
    }
}
