import Bytes
import CFiles
import CLibrary

/// A regular file that is open for reading at any offset.
///
/// Several threads may read the file at the same time. The file is not locked.
public struct InputFile: ~Copyable, Sendable {
    /// The path that was passed to the initializer.
    public let path: String
    /// The size in bytes when the file was opened.
    public let size: Int
    /// The device and inode of the file.
    public let identity: FileIdentity
    /// Whether the permissions give access to the owner only.
    public let isPrivate: Bool
    private let modificationTime: Duration
    private let descriptor: Descriptor

    /// Opens a file.
    ///
    /// - Throws: `FileError`, such as `EISDIR` for a folder, or `ENOTSUP` for anything else that is not a regular file.
    public init(path: String) throws(FileError) {
        // Because of O_NONBLOCK, opening a pipe does not wait for a writer before the pipe is rejected below.
        let descriptor = try Descriptor(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), .open, path)
        let status = try descriptor.status(path)
        guard status.isRegular else {
            throw FileError(.read, path, code: status.isFolder ? EISDIR : ENOTSUP)
        }
        try self.init(descriptor, path: path, status: status)
    }

    init(_ descriptor: consuming Descriptor, path: String, status: stat) throws(FileError) {
        guard !Self.isHole(descriptor, status) else { throw FileError(sparseFileAt: path, size: Int(status.st_size)) }
        self.path = path
        size = Int(status.st_size)
        identity = FileIdentity(status)
        modificationTime = status.modificationTime
        isPrivate = status.st_mode & (S_IRWXG | S_IRWXO) == 0
        self.descriptor = descriptor
    }

    /// Returns whether almost all of a file is a hole, so that reading it would take hours although it contains little.
    private static func isHole(_ descriptor: borrowing Descriptor, _ status: stat) -> Bool {
        let (size, allocatedSize) = (Int(status.st_size), 512 * Int(status.st_blocks))
        guard size > InputLimits.sparseFileSize, size / InputLimits.sparseFileRatio > allocatedSize else {
            return false
        }
        // Some network file systems do not report blocks. If a file system does not report holes either, the only hole
        // is at the end of the file.
        let hole = lseek(descriptor.number, 0, seekHole)
        return hole >= 0 && hole < size
    }

    /// Appends bytes from `offset` onward until `output` is full, `limit` bytes were appended, or the file ends.
    ///
    /// - Returns: The number of appended bytes, which is less than requested only at the end of the file.
    /// - Throws: `FileError`, such as `EINVAL` for a negative offset.
    @discardableResult
    public func read(
        at offset: Int, upTo limit: Int = .max, into output: inout OutputSpan<UInt8>
    ) throws(FileError) -> Int {
        try descriptor.read(at: offset, upTo: limit, into: &output, .read, path)
    }

    /// Returns whether the file has the same size and modification time as when it was opened.
    public func isUnchanged() throws(FileError) -> Bool {
        let status = try descriptor.status(path)
        return Int(status.st_size) == size && status.modificationTime == modificationTime
    }

    /// Whether the path still refers to this file and not to a replacement.
    public var isStillAtItsPath: Bool { FileIdentity(path: path) == identity }

    /// Returns the contents of the file, or throws `EFBIG` if they exceed `limit` bytes.
    public func contents(limit: Int) throws(FileError) -> [UInt8] {
        guard size <= limit else { throw FileError(.read, path, code: EFBIG) }
        var bytes: [UInt8] = []
        // The array has room for one byte more than the size, so that growth of the file is detected without enlarging
        // the array, which would copy all bytes.
        var chunkSize = size + 1
        while chunkSize > 0 {
            let offset = bytes.count
            try bytes.append(addingCapacity: chunkSize) { output throws(FileError) in
                try read(at: offset, into: &output)
            }
            guard bytes.count - offset == chunkSize, bytes.count <= limit else { break }
            // The file has grown. One byte more than the limit is enough to detect that it is too large.
            chunkSize = min(64 << 10, limit - bytes.count + 1)
        }
        guard bytes.count <= limit else { throw FileError(.read, path, code: EFBIG) }
        return bytes
    }
}

extension stat {
    /// The time of the last modification, as the duration since 1970-01-01.
    fileprivate var modificationTime: Duration { .seconds(st_mtim.tv_sec) + .nanoseconds(st_mtim.tv_nsec) }
}

/// A sequence of files that is read like one concatenated file.
///
/// ```swift
/// let joined = ByteSource(try JoinedFiles([first, second]))
/// ```
public final class JoinedFiles: ByteProvider {
    private final class Part: Sendable {
        let file: InputFile
        /// The offset of the file in the sequence.
        let start: Int
        var end: Int { start + file.size }

        init(_ file: consuming InputFile, at start: Int) {
            self.file = file
            self.start = start
        }
    }

    private let parts: [Part]

    /// Opens the files.
    public init(_ paths: [String]) throws(FileError) {
        cfiles_raise_open_file_limit()
        var parts: [Part] = []
        for path in paths { parts.append(Part(try InputFile(path: path), at: parts.last?.end ?? 0)) }
        self.parts = parts
    }

    /// The total size of the files, in bytes.
    public var count: Int { parts.last?.end ?? 0 }

    /// The size of each file when it was opened.
    public var sizes: [Int] { parts.map { $0.file.size } }

    /// The device and inode of each file.
    public var identities: [FileIdentity] { parts.map { $0.file.identity } }

    /// Returns the index of the file that contains the byte at `offset`, and the offset of the byte in that file.
    ///
    /// Returns `nil` if `offset` is negative or beyond the end.
    public func location(of offset: Int) -> (file: Int, offset: Int)? {
        guard (0..<count).contains(offset) else { return nil }
        let file = parts.indices.partitioningIndex { parts[$0].end > offset }
        return (file, offset - parts[file].start)
    }

    /// Returns whether all files are unchanged since they were opened.
    public func isUnchanged(checkingPath checksPath: Bool) throws(FileError) -> Bool {
        for part in parts {
            guard try part.file.isUnchanged(), !checksPath || part.file.isStillAtItsPath else { return false }
        }
        return true
    }

    /// Appends the bytes from `offset` onward to `output`, until `output` is full or the last file ends.
    ///
    /// Reading stops at the end of a file that was truncated meanwhile. Bytes that were appended to a file are ignored.
    public func read(at offset: Int, into output: inout OutputSpan<UInt8>) throws(FileError) {
        var offset = offset
        while !output.isFull, let location = location(of: offset) {
            let part = parts[location.file]
            let requested = min(part.end - offset, output.freeCapacity)
            guard try part.file.read(at: location.offset, upTo: requested, into: &output) == requested else { return }
            offset += requested
        }
    }
}
