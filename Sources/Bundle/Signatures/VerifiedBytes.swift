import Files
import Hashing

/// Bytes that are compared with their hashes whenever they are read.
///
/// Changes to the underlying file are thereby detected before any changed byte is used.
struct VerifiedBytes: ByteProvider {
    /// The size of a block in bytes, with which the hashes of 1 GiB use half a MiB of memory.
    static let blockSize = 64 << 10

    let count: Int
    private let source: ByteSource
    private let path: String
    private let hashes: [ContentHash]

    /// Passes the blocks of a source to `body` in order until it returns `false`, and keeps the hash of each block.
    init(_ source: ByteSource, path: String, _ body: (Span<UInt8>) throws -> Bool) throws {
        self.source = source
        self.path = path
        var hashes: [ContentHash] = []
        var offset = 0
        while offset < source.count {
            let bytes = try source.bytes(at: offset, count: min(Self.blockSize, source.count - offset))
            guard !bytes.isEmpty else { throw FileError(changed: path) }
            hashes.append(ContentHash(of: bytes))
            guard try body(bytes.span) else { break }
            offset += bytes.count
        }
        self.hashes = hashes
        count = source.count
    }

    func read(at offset: Int, into output: inout OutputSpan<UInt8>) throws(FileError) {
        var offset = offset
        while offset < count, !output.isFull {
            let number = offset / Self.blockSize
            let block = try block(number)
            offset += output.append(asMuchAsFitsOf: block.span.extracting((offset - number * Self.blockSize)...))
        }
    }

    /// Returns `true`, because every read is verified.
    func isUnchanged(isAtItsPath: Bool) -> Bool { true }

    private func block(_ number: Int) throws(FileError) -> [UInt8] {
        let start = number * Self.blockSize
        let bytes = try source.bytes(at: start, count: min(Self.blockSize, count - start))
        guard number < hashes.count, ContentHash(of: bytes) == hashes[number] else { throw FileError(changed: path) }
        return bytes
    }
}
