import CFiles
import Glibc

/// A regular file that this process holds an advisory lock on, until the value or the process ends.
public struct LockedFile: ~Copyable, Sendable {
    /// The part of the file that a lock covers.
    public enum Extent: Sendable {
        /// The file: `flock`.
        case whole
        /// One byte far beyond the end, by an open file description lock. Other locks of parts of the file, such as those of
        /// SQLite, do not meet it, and stay when this one ends.
        case beyondEnd
    }

    /// The descriptor, which is open for reading and writing.
    public var number: Int32 { descriptor.number }
    private let descriptor: Descriptor
    private let extent: Extent

    /// Opens a file, makes it for its owner alone where there is none, and locks it. A symbolic link is not followed.
    ///
    /// - Throws: `FileError`: of `lock` with `EWOULDBLOCK` while somebody else has the lock, of `open` with `ENOTSUP` for
    ///   what is neither a regular file nor a folder.
    public init(_ path: String, _ extent: Extent) throws(FileError) {
        // What is no regular file is looked at and never waited for.
        let number = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        guard number >= 0 else { throw FileError(.open, path, code: errno == ENXIO ? ENOTSUP : errno) }
        let descriptor = try Descriptor(number, .open, path)
        guard try descriptor.status(path).isRegular else { throw FileError(.open, path, code: ENOTSUP) }
        let code = Self.lock(number, extent)
        guard code == 0 else {
            throw FileError(.lock, path, code: code == EAGAIN || code == EACCES ? EWOULDBLOCK : code)
        }
        self.descriptor = descriptor
        self.extent = extent
    }

    private static func lock(_ number: Int32, _ extent: Extent) -> Int32 {
        switch extent {
        case .whole: flock(number, LOCK_EX | LOCK_NB) == 0 ? 0 : errno
        case .beyondEnd: cfiles_lock_beyond_end(number)
        }
    }

    /// Unlocks by name: a child process that is just being started shares the descriptor, and with it the lock.
    deinit {
        switch extent {
        case .whole: flock(number, LOCK_UN)
        case .beyondEnd: cfiles_unlock_beyond_end(number)
        }
    }

    /// Returns whether a path still leads to this file, which somebody may have removed or replaced.
    public func isStill(at path: String) -> Bool {
        var status = stat()
        return fstat(number, &status) == 0 && FileIdentity(path: path) == FileIdentity(status)
    }

    /// Replaces the contents.
    /// - Throws: `FileError`, with a path for its message.
    public func replaceContents(by bytes: [UInt8], _ path: String) throws(FileError) {
        guard ftruncate(number, 0) == 0 else { throw FileError(.write, path) }
        let count = pwrite(number, bytes, bytes.count, 0)
        guard count == bytes.count else { throw FileError(.write, path, code: count < 0 ? errno : ENOSPC) }
    }
}
