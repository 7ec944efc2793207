import CFiles
import CLibrary

/// The temporary folder of an output that consists of several files.
///
/// The folder and its files are removed when the value is destroyed, unless ``cancelRemoval()`` was called.
struct PartialFolder: ~Copyable, Sendable {
    struct File: Sendable {
        let name: String
        /// The index of the file in the table of the signal handler.
        let signalTableIndex: Int32
    }

    let parent: Descriptor
    let folder: Descriptor
    let name: String
    private let signalTableIndex: Int32
    private var files: [File] = []
    private var removesFilesOnDeinit = true

    /// The minimum size, in bytes, of a write operation after which the kernel is asked to write to the disk
    /// immediately.
    private static let immediateWritebackSize = 64 << 10

    /// Creates and locks the folder, or reuses a folder that an interrupted run left behind.
    ///
    /// - Parameters:
    ///   - parent: The parent folder.
    ///   - name: The name of the folder.
    ///   - path: The path of the folder, for error messages.
    ///   - output: The path of the output, which the signal handler reports.
    ///   - mayRemove: Returns whether all files in an existing folder may be removed.
    /// - Throws: `FileError`, for the same reasons as `open`.
    init(
        in parent: consuming Descriptor, _ name: String, _ path: String, of output: String,
        removing mayRemove: ([String]) -> Bool
    ) throws(FileError) {
        cfiles_signals_defer()
        defer { cfiles_signals_resume() }
        folder = try Self.open(parent, name, path, removing: mayRemove)
        signalTableIndex = cfiles_partial_add_folder(parent.number, name, output)
        self.name = name
        self.parent = parent
    }

    deinit {
        if removesFilesOnDeinit {
            cfiles_signals_defer()
            if unregisterFromSignalHandler() { remove(names) }
            cfiles_signals_resume()
        }
        for file in files { cfiles_partial_release(file.signalTableIndex) }
        cfiles_partial_release(signalTableIndex)
    }

    /// The names of the files, in the order of their creation.
    var names: [String] { files.map(\.name) }

    /// Creates the file `name`, which must not exist in the folder yet.
    mutating func create(_ name: String, _ path: String) throws(FileError) -> Descriptor {
        cfiles_signals_defer()
        defer { cfiles_signals_resume() }
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        let file = try Descriptor(openat(folder.number, name, flags, 0o600), .create, path)
        files.append(File(name: name, signalTableIndex: cfiles_partial_add(folder.number, name, "")))
        return file
    }

    /// Appends `bytes` to a file of the folder.
    static func write(
        _ bytes: Span<UInt8>, to file: borrowing Descriptor, _ path: @autoclosure () -> String
    ) throws(FileError) {
        try bytes.writeAll(to: file.number, .write, path())
        // Starting to write now leaves less to do for the final `fsync`.
        guard bytes.count >= immediateWritebackSize else { return }
        let end = lseek(file.number, 0, SEEK_CUR)
        cfiles_begin_sync(file.number, Int64(end) - Int64(bytes.count), Int64(bytes.count))
    }

    /// Cancels the automatic removal of the folder and its files, so that they can be renamed.
    ///
    /// Returns `false` if a signal has already removed the folder or one of its files.
    mutating func cancelRemoval() -> Bool {
        removesFilesOnDeinit = false
        return unregisterFromSignalHandler()
    }

    private func unregisterFromSignalHandler() -> Bool {
        var isOurs = cfiles_partial_claim(signalTableIndex) == 1
        for file in files where cfiles_partial_claim(file.signalTableIndex) != 1 { isOurs = false }
        return isOurs
    }

    /// Removes the files with these names, and then the folder if it is empty.
    func remove(_ names: [String]) {
        Self.remove(names, from: folder)
        unlinkat(parent.number, name, AT_REMOVEDIR)
    }

    /// Creates and locks the folder, or empties an existing folder if `mayRemove` returns `true` for the names in it.
    ///
    /// - Throws: `FileError`: `lock` with `EWOULDBLOCK` while another run uses the folder, or `ENOTEMPTY` if the folder
    ///   has another owner or contains anything that must not be removed.
    private static func open(
        _ parent: borrowing Descriptor, _ name: String, _ path: String, removing mayRemove: ([String]) -> Bool
    ) throws(FileError) -> Descriptor {
        for _ in 0..<16 {
            guard mkdirat(parent.number, name, 0o700) == 0 || errno == EEXIST else { throw FileError(.create, path) }
            let folder = try parent.folder(name, .create, path)
            guard flock(folder.number, LOCK_EX | LOCK_NB) == 0 else { throw FileError(.lock, path) }
            // Another run may have removed or renamed the folder before it was locked.
            let status = try folder.status(path)
            guard let named = parent.status(of: name), FileIdentity(named) == FileIdentity(status) else { continue }
            let left = try names(in: folder, path)
            guard status.st_uid == geteuid(), mayRemove(left),
                try containsOnlyFiles(in: folder, named: left.contains, path)
            else { throw FileError(.create, path, code: ENOTEMPTY) }
            if !left.isEmpty {
                // An interrupted run may have renamed files without making that durable. After a power failure, the
                // files in this folder could then be the only copy.
                try parent.syncFolder(path)
                remove(left, from: folder)
            }
            return folder
        }
        throw FileError(.lock, path, code: EWOULDBLOCK)
    }

    /// Returns whether a folder contains only regular files whose names satisfy `isKnown`.
    static func containsOnlyFiles(
        in folder: borrowing Descriptor, named isKnown: (String) -> Bool, _ path: String
    ) throws(FileError) -> Bool {
        for name in try names(in: folder, path) {
            guard isKnown(name), folder.status(of: name)?.isRegular == true else { return false }
        }
        return true
    }

    /// Returns the sorted names of the entries of `folder`, with U+FFFD in place of malformed UTF-8.
    static func names(in folder: borrowing Descriptor, _ path: String) throws(FileError) -> [String] {
        try folder.entries(path).map(\.text).sorted()
    }

    /// Returns `path`, followed by the paths of all entries if `path` refers to a folder that can be read.
    static func pathsIncludingEntries(of path: String) -> [String] {
        guard let folder = try? Descriptor(CLibrary.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), .open, path),
            let names = try? names(in: folder, path)
        else { return [path] }
        return [path] + names.map { "\(path)/\($0)" }
    }

    static func remove(_ names: [String], from folder: borrowing Descriptor) {
        for name in names { unlinkat(folder.number, name, 0) }
    }
}

/// The names of temporary files and folders.
enum PartialName {
    /// The maximum length of a name in bytes, which leaves space for the suffix that SQLite appends for a journal.
    private static let maximumLength = 255 - "-journal".utf8.count

    /// The end of the names of temporary files.
    private static let suffix = ".partial"

    /// Returns whether `name` is the name of a temporary file for an output with the same extension as `path`.
    static func isPartial(_ name: String, ofOutputLike path: String) -> Bool {
        let fileExtension = Path.name(of: path).split(separator: ".", omittingEmptySubsequences: false).dropFirst().last
        return name.hasPrefix(".") && name.hasSuffix((fileExtension.map { ".\($0)" } ?? "") + suffix)
    }

    /// Returns the temporary name `.NAME.partial` for the output `name`.
    ///
    /// If the temporary name would be too long, NAME is replaced with its hash.
    static func make(for name: String, suffix: String = suffix) -> String {
        let full = ".\(name)\(suffix)"
        guard full.utf8.count > maximumLength else { return full }
        // The hash function is FNV-1a, which returns the same value in each run, so that all runs lock the same file.
        let hash = name.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        return ".\(String(hash, radix: 16))\(suffix)"
    }
}

/// Removal of the temporary files of this process when a signal interrupts it.
public enum PartialFiles {
    /// Installs handlers for SIGINT, SIGTERM, SIGHUP and SIGPIPE that remove the temporary files and end the process.
    ///
    /// The signal then terminates the process. All handlers except the handler of SIGPIPE write one line to the
    /// standard error:
    ///
    ///     pingferry: interrupted; nothing was written to out.tar.zst
    ///
    /// A signal that was ignored when the process started, as with `nohup`, stays ignored. An output that `commit` has
    /// begun to rename is not removed. The handler is a C signal handler and not a dispatch source, so that it works
    /// while all threads are busy.
    ///
    /// - Parameter message: The beginning of the line, at most 255 bytes. The paths of the outputs are appended.
    /// - Throws: `FileError` if a handler cannot be installed.
    public static func removeOnInterrupt(message: String) throws(FileError) {
        let code = cfiles_remove_on_interrupt(message)
        guard code == 0 else { throw FileError(.open, "signal handler", code: code) }
    }
}
