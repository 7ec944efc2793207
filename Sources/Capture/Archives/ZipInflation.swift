import Bytes
import CZlib
import Files
import Synchronization

/// The contents of members of a zip archive that are inflated on several cores and appended to the spool.
///
/// libarchive reads the headers, and decides which members there are. It would inflate their contents on one core.
struct ZipInflation {
    /// An error that reports contents that differ from the size or the checksum in the headers or after the contents.
    private struct Mismatch: Error {}

    /// Members that are close to each other in the archive, and are read together.
    private struct Chunk: Sendable {
        var members: [ZipDirectory.PlainMember]
        var size: Int

        var range: Range<Int> { members[0].range.lowerBound..<members[members.count - 1].range.upperBound }
    }

    /// The maximum size, in bytes, of a chunk in the archive, and of its contents.
    ///
    /// The contents of larger members are read by libarchive.
    private static let chunkSize = 512 << 10
    /// The size, in bytes, of the contents that are inflated at the same time.
    private static let batchSize = 8 << 20

    private let source: ByteSource
    private let spool: Spool
    private let limit: JobLimit
    /// The members that follow the last one that was added.
    private var members: ArraySlice<ZipDirectory.PlainMember>
    private var chunks: [Chunk] = []
    /// The size of the contents of all chunks, in bytes.
    private var size = 0

    init(_ members: [ZipDirectory.PlainMember], of source: ByteSource, spool: Spool, limit: JobLimit) {
        self.source = source
        self.spool = spool
        self.limit = limit
        self.members = members[...]
    }

    /// Adds the contents that begin at `offset` in the archive and have `count` bytes, and returns their future location.
    ///
    /// Returns `nil` if they cannot be inflated here. The caller must then call ``finish()`` and use libarchive.
    mutating func add(contentsAt offset: Int, count: Int) throws -> SpooledTree.Contents? {
        members = members.drop { $0.range.lowerBound < offset }
        guard let member = members.first, member.range.lowerBound == offset, member.size == count,
            max(member.range.count, count) <= Self.chunkSize
        else { return nil }
        if size >= Self.batchSize { try finish() }
        let location = SpooledTree.Contents.spooled(offset: spool.endOffset + size, count: count)
        if let last = chunks.last, last.size + count <= Self.chunkSize,
            member.range.upperBound - last.range.lowerBound <= Self.chunkSize
        {
            chunks[chunks.count - 1].members.append(member)
            chunks[chunks.count - 1].size += count
        } else {
            chunks.append(Chunk(members: [member], size: count))
        }
        size += count
        return location
    }

    /// Inflates all added contents, and appends them to the spool.
    ///
    /// - Throws: An error if a member is damaged. The archive must then be read by libarchive alone.
    mutating func finish() throws {
        let results = Mutex([Result<[UInt8], any Error>?](repeating: nil, count: chunks.count))
        limit.concurrentPerform(chunks.count) { [chunks, source] index in
            let result = Result { try Self.contents(of: chunks[index], in: source) }
            results.withLock { $0[index] = result }
        }
        for result in results.withLock({ $0 }) {
            if let contents = try result?.get() { try spool.append(contents.span) }
        }
        chunks = []
        size = 0
    }

    private static func contents(of chunk: Chunk, in source: ByteSource) throws -> [UInt8] {
        let bytes = try source.bytes(
            at: chunk.range.lowerBound, count: chunk.range.count + ZipDirectory.PlainMember.maxDescriptorSize)
        guard bytes.count >= chunk.range.count else { throw Mismatch() }
        var inflater = try Inflater(.raw)
        return try [UInt8](capacity: chunk.size) { output in
            for member in chunk.members {
                let start = output.count
                let offset = member.range.lowerBound - chunk.range.lowerBound
                let stored = bytes.span.extracting(offset..<offset + member.range.count)
                if member.isDeflated {
                    var position = 0
                    try inflater.inflate(stored, from: &position, into: &output)
                    guard inflater.isAtEnd, position == stored.count else { throw Mismatch() }
                    inflater.restart()
                } else {
                    output.append(fittingPrefixOf: stored)
                }
                let checksum = output.span.extracting(droppingFirst: start).withUnsafeBytes {
                    crc32(0, $0.bindMemory(to: UInt8.self).baseAddress, UInt32($0.count))
                }
                guard output.count - start == member.size, checksum == member.checksum,
                    !member.hasDescriptor
                        || member.isDescriptor(bytes.span.extracting(droppingFirst: offset + member.range.count))
                else { throw Mismatch() }
            }
        }
    }
}
