import Files
import Hashing

/// Bytes that are compared with stored hashes whenever they are read.
///
/// Reading bytes that have changed throws an error.
struct VerifiedBytes: ByteProvider {
    /// The size, in bytes, of a block with a separate hash.
    static let blockSize = 64 << 10

    let count: Int
    private let source: ByteSource
    private let path: String
    private let hashes: [ContentHash]

    /// Calls `body` with each block of a source until `body` returns `false`, and stores the hash of each block.
    init(_ source: ByteSource, path: String, _ body: (Span<UInt8>) throws -> Bool) throws {
        self.source = source
        self.path = path
        var hashes: [ContentHash] = []
        var offset = 0
        while offset < source.count {
            let bytes = try source.bytes(at: offset, count: min(Self.blockSize, source.count - offset))
            guard !bytes.isEmpty else { throw FileError(changedFileAt: path) }
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
            offset += output.append(fittingPrefixOf: block.span.extracting((offset - number * Self.blockSize)...))
        }
    }

    /// Returns `true`, because every read is verified.
    func isUnchanged(checkingPath checksPath: Bool) -> Bool { true }

    private func block(_ number: Int) throws(FileError) -> [UInt8] {
        let start = number * Self.blockSize
        let bytes = try source.bytes(at: start, count: min(Self.blockSize, count - start))
        guard number < hashes.count, ContentHash(of: bytes) == hashes[number] else {
            throw FileError(changedFileAt: path)
        }
        return bytes
    }
}
