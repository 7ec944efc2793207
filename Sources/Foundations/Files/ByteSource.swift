import CFiles
import CLibrary

/// A sequence of bytes that can be read at any offset.
///
/// The bytes are stored in an open file, in a part of a spool file or in an array, or an object computes them on
/// demand. A source is a class, because several threads share an open file.
public final class ByteSource: Sendable {
    private enum Backing: ~Copyable, Sendable {
        case file(InputFile)
        case spool(SpoolFile, start: Int)
        case memory([UInt8])
        case provider(any ByteProvider)
    }

    private let backing: Backing
    /// The number of bytes in the source.
    ///
    /// If the source is a file, this is the size of the file when it was opened.
    public let count: Int

    /// Creates a source of the bytes of an open file.
    public init(_ file: consuming InputFile) {
        count = file.size
        backing = .file(file)
    }

    /// Creates a source of `count` bytes of `spool`, beginning at the offset `start`.
    public init(_ spool: SpoolFile, at start: Int, count: Int) {
        self.count = count
        backing = .spool(spool, start: start)
    }

    /// Creates a source of the bytes of an array.
    public init(_ bytes: [UInt8]) {
        count = bytes.count
        backing = .memory(bytes)
    }

    /// Creates a source of bytes that are computed on demand.
    public init(_ provider: any ByteProvider) {
        count = provider.count
        backing = .provider(provider)
    }

    /// Appends the bytes from `offset` onward to `output`, until `output` is full or the source ends.
    public func read(at offset: Int, into output: inout OutputSpan<UInt8>) throws(FileError) {
        switch backing {
        case .file(let file):
            try file.read(at: offset, into: &output)
        case .spool(let file, let start):
            guard (0..<count).contains(offset) else { return }
            try file.read(at: start + offset, upTo: count - offset, into: &output)
        case .provider(let provider):
            guard (0..<count).contains(offset) else { return }
            try provider.read(at: offset, into: &output)
        case .memory(let bytes):
            guard (0..<bytes.count).contains(offset) else { return }
            output.append(fittingPrefixOf: bytes.span.extracting(offset...))
        }
    }

    /// Returns whether the underlying file, if any, has the same size and modification time as when it was opened.
    ///
    /// - Parameter checksPath: Whether the path must also still refer to the same file.
    /// - Returns: `true` if the file is unchanged, or if the source is not a file.
    /// - Throws: `FileError`.
    public func isUnchanged(checkingPath checksPath: Bool = false) throws(FileError) -> Bool {
        switch backing {
        case .file(let file): try file.isUnchanged() && (!checksPath || file.isStillAtItsPath)
        case .spool: true
        case .memory: true
        case .provider(let provider): try provider.isUnchanged(checkingPath: checksPath)
        }
    }

    /// Returns `count` bytes, beginning at `offset`, or fewer at the end of the source.
    ///
    /// The caller must limit `count`, because memory for all these bytes is allocated.
    public func bytes(at offset: Int, count: Int) throws(FileError) -> [UInt8] {
        try [UInt8](capacity: count) { output throws(FileError) in
            try read(at: offset, into: &output)
        }
    }
}

extension OutputSpan<UInt8> {
    /// Appends the longest prefix of `bytes` that fits, and returns the number of appended bytes.
    @discardableResult
    public mutating func append(fittingPrefixOf bytes: Span<UInt8>) -> Int {
        bytes.withUnsafeBufferPointer { bytes in
            withUnsafeMutableBufferPointer { buffer, initialized in
                let free = UnsafeMutableBufferPointer(rebasing: buffer[initialized...])
                let count = free.initialize(fromContentsOf: bytes.prefix(free.count))
                initialized += count
                return count
            }
        }
    }
}

/// An object that computes bytes on demand, such as the decrypted bytes of an encrypted file.
public protocol ByteProvider: Sendable {
    /// The number of bytes.
    var count: Int { get }

    /// Appends the bytes from `offset` onward to `output`, until `output` is full or all bytes are read.
    ///
    /// The offset must be less than ``count``.
    func read(at offset: Int, into output: inout OutputSpan<UInt8>) throws(FileError)

    /// Returns whether all underlying files are unchanged since they were opened.
    ///
    /// - Parameter checksPath: Whether the paths must also still refer to the same files.
    /// - Returns: Whether all files are unchanged.
    /// - Throws: `FileError`.
    func isUnchanged(checkingPath checksPath: Bool) throws(FileError) -> Bool
}

extension ByteSource {
    /// The size of a chunk, in bytes.
    private static let chunkSize = 1 << 20

    /// Copies the bytes to an unnamed temporary file on the disk of `folder`.
    public func copied(to folder: String) throws(FileError) -> SpoolFile {
        let copy = try SpoolFile(in: folder)
        try forEachChunk { bytes, offset throws(FileError) in try copy.write(bytes.span, at: offset) }
        return copy
    }

    /// Calls `body` with each chunk of the bytes in `range` and with the offset of the chunk in the source.
    ///
    /// If `range` is `nil`, all bytes are read.
    public func forEachChunk(
        in range: Range<Int>? = nil, _ body: ([UInt8], Int) throws(FileError) -> Void
    ) throws(FileError) {
        let range = range ?? 0..<count
        var offset = range.lowerBound
        while offset < range.upperBound {
            let bytes = try bytes(at: offset, count: min(Self.chunkSize, range.upperBound - offset))
            guard !bytes.isEmpty else { return }
            try body(bytes, offset)
            offset += bytes.count
        }
    }
}

/// An unnamed temporary file for bytes that are read again later.
///
/// The file disappears when the value is destroyed or the process is killed. Several threads may read from it at the
/// same time, but only one may write.
public final class SpoolFile: Sendable {
    /// A folder on the same disk as the file.
    public let folder: String
    private let descriptor: Descriptor

    /// Creates a file with permissions 0600 on the disk that contains `folder`.
    public init(in folder: String) throws(FileError) {
        descriptor = try Descriptor(cfiles_open_unnamed(folder), .spool, folder)
        self.folder = folder
    }

    /// The file descriptor for C libraries, which is valid until this object is destroyed.
    public var descriptorNumber: Int32 { descriptor.number }

    /// Writes all of `bytes` to the file, beginning at `offset`.
    ///
    /// - Throws: `FileError` with the operation `spool`, such as `ENOSPC`.
    public func write(_ bytes: Span<UInt8>, at offset: Int) throws(FileError) {
        try bytes.writeAll(to: descriptor.number, at: offset, .spool, folder)
    }

    /// Appends bytes from `offset` onward until `output` is full, `limit` bytes were appended, or the file ends.
    ///
    /// Returns the number of appended bytes.
    @discardableResult
    public func read(
        at offset: Int, upTo limit: Int = .max, into output: inout OutputSpan<UInt8>
    ) throws(FileError) -> Int {
        try descriptor.read(at: offset, upTo: limit, into: &output, .spool, folder)
    }
}
