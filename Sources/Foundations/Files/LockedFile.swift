import CFiles
import CLibrary

/// A regular file with an advisory lock, which is held until the value is destroyed or the process ends.
public struct LockedFile: ~Copyable, Sendable {
    /// The part of the file that a lock covers.
    public enum Extent: Sendable {
        /// The whole file, which is locked with `flock`.
        case wholeFile
        /// One byte far beyond the end of the file, which is locked with an open file description lock.
        ///
        /// This lock does not affect locks of other parts of the file, such as the locks of SQLite.
        case beyondEnd
    }

    /// The file descriptor, which is open for reading and writing.
    public var descriptorNumber: Int32 { descriptor.number }
    private let descriptor: Descriptor
    private let extent: Extent

    /// Opens and locks a file, which is created with permissions 0600 if it does not exist.
    ///
    /// If the program runs as root, a file of root is given to the owner of its folder.
    ///
    /// Symbolic links are not followed.
    ///
    /// - Throws: `FileError`: `lock` with `EWOULDBLOCK` while another process holds the lock, or `open` with `ENOTSUP`
    ///   if the path is neither a regular file nor a folder.
    public init(_ path: String, _ extent: Extent) throws(FileError) {
        // Because of O_NONBLOCK, opening a pipe or device does not wait before it is rejected below.
        let number = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        guard number >= 0 else { throw FileError(.open, path, code: errno == ENXIO ? ENOTSUP : errno) }
        let descriptor = try Descriptor(number, .open, path)
        guard try descriptor.status(path).isRegular else { throw FileError(.open, path, code: ENOTSUP) }
        let folder = try Descriptor(open(Path.folder(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC), .open, path)
        try descriptor.adoptOwner(of: folder, path)
        let code = Self.lock(number, extent)
        guard code == 0 else {
            throw FileError(.lock, path, code: code == EAGAIN || code == EACCES ? EWOULDBLOCK : code)
        }
        self.descriptor = descriptor
        self.extent = extent
    }

    private static func lock(_ number: Int32, _ extent: Extent) -> Int32 {
        switch extent {
        case .wholeFile: flock(number, LOCK_EX | LOCK_NB) == 0 ? 0 : errno
        case .beyondEnd: cfiles_lock_beyond_end(number)
        }
    }

    /// Unlocks the file explicitly, because closing the descriptor does not unlock it while a child process that is
    /// being started shares the descriptor.
    deinit {
        switch extent {
        case .wholeFile: flock(descriptorNumber, LOCK_UN)
        case .beyondEnd: cfiles_unlock_beyond_end(descriptorNumber)
        }
    }

    /// Returns whether `path` still refers to this file.
    public func isLocated(at path: String) -> Bool {
        var status = stat()
        return fstat(descriptorNumber, &status) == 0 && FileIdentity(path: path) == FileIdentity(status)
    }

    /// Replaces the contents of the file, or throws an error that contains `path`.
    public func replaceContents(with bytes: [UInt8], _ path: String) throws(FileError) {
        guard ftruncate(descriptorNumber, 0) == 0 else { throw FileError(.write, path) }
        let count = pwrite(descriptorNumber, bytes, bytes.count, 0)
        guard count == bytes.count else { throw FileError(.write, path, code: count < 0 ? errno : ENOSPC) }
    }
}
