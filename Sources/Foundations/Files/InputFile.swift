import Glibc

/// A regular file open for reading by position, which any number of threads may do at once.
///
/// The file is neither modified nor locked.
public struct InputFile: ~Copyable, Sendable {
    /// The path as given.
    public let path: String
    /// The size in bytes when the file was opened.
    public let size: Int
    /// The file's device and inode.
    public let identity: FileIdentity
    /// Whether nobody but the owner (and the superuser) has any right to the file.
    public let isPrivate: Bool
    private let modified: Duration
    private let descriptor: Descriptor

    /// Opens a file.
    ///
    /// - Throws: `FileError`: the error of `open`, `EISDIR` for a folder, `ENOTSUP` for anything else that
    ///   is not a regular file.
    public init(path: String) throws(FileError) {
        // O_NONBLOCK only so that opening a pipe does not wait for a writer before it is refused below.
        let descriptor = try Descriptor(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), .open, path)
        let status = try descriptor.status(path)
        guard status.isRegular else {
            throw FileError(.read, path, code: status.isFolder ? EISDIR : ENOTSUP)
        }
        self.init(descriptor, path: path, status: status)
    }

    init(_ descriptor: consuming Descriptor, path: String, status: stat) {
        self.path = path
        size = Int(status.st_size)
        identity = FileIdentity(status)
        modified = status.modified
        isPrivate = status.st_mode & (S_IRWXG | S_IRWXO) == 0
        self.descriptor = descriptor
    }

    /// Reads bytes from `offset` on into the free part of `output`, at most `limit`, until it is full or the file ends.
    ///
    /// - Returns: the number of bytes that were appended: less than there was room for only at the end.
    /// - Throws: `FileError`; `EINVAL` for a negative offset.
    @discardableResult
    public func read(
        at offset: Int, upTo limit: Int = .max, into output: inout OutputSpan<UInt8>
    ) throws(FileError) -> Int {
        try descriptor.read(at: offset, upTo: limit, into: &output, .read, path)
    }

    /// Whether the file has the size and the time of modification that it had when it was opened.
    public func isUnchanged() throws(FileError) -> Bool {
        let status = try descriptor.status(path)
        return Int(status.st_size) == size && status.modified == modified
    }

    /// Whether its path still leads to the file, and not to another one that took its place.
    public var isStillAtItsPath: Bool { FileIdentity(path: path) == identity }

    /// The whole file.
    ///
    /// - Parameter limit: the most bytes to accept.
    /// - Throws: `FileError`; `EFBIG` when there are more bytes than `limit`.
    public func contents(limit: Int) throws(FileError) -> [UInt8] {
        guard size <= limit else { throw FileError(.read, path, code: EFBIG) }
        var bytes: [UInt8] = []
        // One byte more shows that the file has not grown; to make room for more afterwards would copy all of it.
        var step = size + 1
        while step > 0 {
            let offset = bytes.count
            try bytes.append(addingCapacity: step) { output throws(FileError) in
                try read(at: offset, into: &output)
            }
            guard bytes.count - offset == step, bytes.count <= limit else { break }
            // It has; one byte more than allowed is enough to see.
            step = min(64 << 10, limit - bytes.count + 1)
        }
        guard bytes.count <= limit else { throw FileError(.read, path, code: EFBIG) }
        return bytes
    }
}

extension stat {
    /// The time of the last modification, since 1970.
    fileprivate var modified: Duration { .seconds(st_mtim.tv_sec) + .nanoseconds(st_mtim.tv_nsec) }
}
