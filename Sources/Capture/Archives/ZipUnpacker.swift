import CZlib
import Files
import Zip

/// An unpacker that extracts members of a zip archive and verifies them against the directory.
struct ZipUnpacker: ~Copyable {
    private var inflater: Inflater

    private static let pieceSize = 256 << 10

    init() throws(InflateError) {
        inflater = try Inflater(.none)
    }

    /// Unpacks `bytes`, the packed contents of `entry`, and appends the result to `output`.
    ///
    /// `output` must have room for at least one byte more than the unpacked size, so that longer contents are detected.
    mutating func append(_ bytes: Span<UInt8>, of entry: ZipEntry, to output: inout OutputSpan<UInt8>) throws {
        let start = output.count
        guard entry.size < output.freeCapacity else { throw RequiresLibarchive() }
        if entry.method == ZipEntry.Method.stored {
            output.append(fittingPrefixOf: bytes)
        } else {
            var used = 0
            inflater.restart()
            try inflater.inflate(bytes, from: &used, into: &output)
            guard inflater.isAtEnd, used == bytes.count else { throw RequiresLibarchive() }
        }
        guard output.count - start == entry.size,
            Self.checksum(of: output.span.extracting(start...), after: 0) == entry.checksum
        else { throw RequiresLibarchive() }
    }

    /// Calls `body` with consecutive parts of the unpacked contents of `member`, which can be of any size.
    mutating func read(
        _ member: ZipPart.Member, in source: ByteSource, _ body: (Span<UInt8>) throws -> Void
    ) throws {
        var checksum: UInt32 = 0
        var size = 0
        try pieces(of: member.entry, Self.contentsRange(of: member, in: source), in: source) { piece in
            size += piece.count
            guard size <= member.entry.size else { throw RequiresLibarchive() }
            checksum = Self.checksum(of: piece, after: checksum)
            try body(piece)
        }
        guard size == member.entry.size, checksum == member.entry.checksum else { throw RequiresLibarchive() }
    }

    /// Returns the range of the contents of a large member in the archive.
    static func contentsRange(of member: ZipPart.Member, in source: ByteSource) throws -> Range<Int> {
        let start = member.extent.lowerBound
        let header = try source.bytes(at: start, count: min(ZipEntry.maximumHeaderSize, member.extent.count))
        guard let contents = member.entry.contentsRange(in: header.span, memberSize: member.extent.count) else {
            throw RequiresLibarchive()
        }
        return start + contents.lowerBound..<start + contents.upperBound
    }

    private mutating func pieces(
        of entry: ZipEntry, _ range: Range<Int>, in source: ByteSource, _ body: (Span<UInt8>) throws -> Void
    ) throws {
        inflater.restart()
        var offset = range.lowerBound
        while offset < range.upperBound {
            let bytes = try source.bytes(at: offset, count: min(Self.pieceSize, range.upperBound - offset))
            guard !bytes.isEmpty else { throw RequiresLibarchive() }
            offset += bytes.count
            if entry.method == ZipEntry.Method.stored {
                try body(bytes.span)
                continue
            }
            var used = 0
            while used < bytes.count, !inflater.isAtEnd {
                let piece = try [UInt8](capacity: Self.pieceSize) { output in
                    try inflater.inflate(bytes.span, from: &used, into: &output)
                }
                try body(piece.span)
            }
            guard used == bytes.count else { throw RequiresLibarchive() }
        }
        guard entry.method == ZipEntry.Method.stored || inflater.isAtEnd else { throw RequiresLibarchive() }
    }

    private static func checksum(of bytes: Span<UInt8>, after checksum: UInt32) -> UInt32 {
        bytes.withUnsafeBytes { bytes in
            UInt32(
                truncatingIfNeeded: crc32_z(UInt(checksum), bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count))
        }
    }
}
