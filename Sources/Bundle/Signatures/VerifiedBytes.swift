import Files
import Hashing

/// Bytes that are what they were when they were looked at: each block is compared with its hash whenever it is read, so that
/// a file that changes meanwhile is noticed before anything of it is used.
struct VerifiedBytes: ByteMaking {
    /// In bytes: the hashes of a GiB take half a MiB of memory.
    static let blockSize = 64 << 10

    let count: Int
    private let source: ByteSource
    private let path: String
    private let hashes: [ContentHash]

    /// Hands out all bytes of a source and keeps the hash of each block.
    /// - Parameters:
    ///   - path: what messages call it.
    ///   - body: takes the bytes in their order; ends the reading where it says false.
    /// - Throws: `FileError`, and what `body` throws.
    init(_ source: ByteSource, path: String, _ body: (Span<UInt8>) throws -> Bool) throws {
        self.source = source
        self.path = path
        var hashes: [ContentHash] = []
        var offset = 0
        while offset < source.count {
            let bytes = try source.bytes(at: offset, count: min(Self.blockSize, source.count - offset))
            guard !bytes.isEmpty else { throw Self.changed(path) }
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

    /// What is read is compared with its hash each time.
    func isUnchanged(isAtItsPath: Bool) -> Bool { true }

    private func block(_ number: Int) throws(FileError) -> [UInt8] {
        let start = number * Self.blockSize
        let bytes = try source.bytes(at: start, count: min(Self.blockSize, count - start))
        guard number < hashes.count, ContentHash(of: bytes) == hashes[number] else { throw Self.changed(path) }
        return bytes
    }

    private static func changed(_ path: String) -> FileError { FileError(changed: path) }
}
