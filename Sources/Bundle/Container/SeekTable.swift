import Files

/// A table of the sizes and the checksum of each frame, which is stored at the end of a container.
///
/// The table is a skippable zstd frame that contains entries and a footer. All numbers are 32-bit and little-endian.
///
/// Source: "Zstandard Seekable Format" 0.1.0 (`contrib/seekable_format` of zstd).
public struct SeekTable: Sendable, Equatable {
    /// The sizes and the checksum of a frame.
    public struct Entry: Sendable, Equatable {
        /// The size of the frame in the file, in bytes.
        public let compressedSize: UInt32
        /// The size of the decoded contents in bytes.
        public let contentSize: UInt32
        /// The low 32 bits of the XXH64 hash of the decoded contents.
        ///
        /// The frame ends with the same checksum.
        public let checksum: UInt32
    }

    /// The maximum number of frames that this program writes or accepts.
    ///
    /// The limit bounds the memory of a reader. The format itself allows 2^27 frames. The last frame is the end of the
    /// archive.
    public static let maxFrameCount = ContainerReader.maxMemberCount + 1

    static let skippableMagic: UInt32 = 0x184d_2a5e
    static let seekableMagic: UInt32 = 0x8f92_eab1
    static let footerSize = 9
    private static let headerSize = 8
    private static let entrySize = 12
    /// The descriptor byte of the table.
    ///
    /// Bit 7 indicates that the entries have checksums. All other bits must be zero.
    private static let descriptor: UInt8 = 0x80

    /// The frames in file order.
    public let entries: [Entry]

    init(_ entries: [Entry]) { self.entries = entries }

    private static func size(frameCount: Int) -> Int { headerSize + frameCount * entrySize + footerSize }

    /// Returns the bytes of the table, which are one skippable frame.
    public func encoded() -> [UInt8] {
        var bytes: [UInt8] = []
        let size = Self.size(frameCount: entries.count)
        bytes.reserveCapacity(size)
        bytes.appendLittleEndian(Self.skippableMagic)
        bytes.appendLittleEndian(UInt32(size - Self.headerSize))
        for entry in entries {
            bytes.appendLittleEndian(entry.compressedSize)
            bytes.appendLittleEndian(entry.contentSize)
            bytes.appendLittleEndian(entry.checksum)
        }
        bytes.appendLittleEndian(UInt32(entries.count))
        bytes.append(Self.descriptor)
        bytes.appendLittleEndian(Self.seekableMagic)
        return bytes
    }
}

extension SeekTable {
    /// Reads the table at the end of `source`, and checks that its sizes add up to the size of `source`.
    public static func read(from source: ByteSource) throws(ContainerError) -> SeekTable {
        let footerStart = source.count - footerSize
        let footer = footerStart < headerSize ? [] : try source.read(at: footerStart, count: footerSize)
        guard footer.littleEndian32(at: 5) == seekableMagic, let count = footer.littleEndian32(at: 0) else {
            throw ContainerError(at: source.count, .noSeekTable)
        }
        guard count <= maxFrameCount, size(frameCount: Int(count)) <= source.count else {
            throw ContainerError(at: footerStart, .badSeekTable("its number of frames is too large"))
        }
        let start = source.count - size(frameCount: Int(count))
        let bytes = try source.read(at: start, count: source.count - start)
        do {
            return try SeekTable(decoding: bytes, frameByteCount: start)
        } catch {
            throw ContainerError(at: start, error)
        }
    }

    /// Decodes a table.
    ///
    /// The compressed sizes must add up to `frameByteCount`, the number of bytes before the table.
    public init(decoding bytes: [UInt8], frameByteCount: Int) throws(FrameError) {
        let footer = bytes.count - Self.footerSize
        guard bytes.littleEndian32(at: 0) == Self.skippableMagic, footer >= Self.headerSize else {
            throw .badSeekTable("it does not start at the expected offset")
        }
        guard let size = bytes.littleEndian32(at: 4), let count = bytes.littleEndian32(at: footer),
            Int(size) == bytes.count - Self.headerSize, Self.size(frameCount: Int(count)) == bytes.count,
            bytes.littleEndian32(at: footer + 5) == Self.seekableMagic
        else { throw .badSeekTable("its size and its number of frames disagree") }
        guard bytes[footer + 4] == Self.descriptor else {
            throw .badSeekTable("it has no checksums, or reserved bits are set")
        }
        var entries: [Entry] = []
        entries.reserveCapacity(Int(count))
        // The sum cannot overflow, because it has at most 2^32 terms of 32 bits.
        var total = 0
        for offset in stride(from: Self.headerSize, to: footer, by: Self.entrySize) {
            guard let compressedSize = bytes.littleEndian32(at: offset),
                let content = bytes.littleEndian32(at: offset + 4),
                let checksum = bytes.littleEndian32(at: offset + 8)
            else { throw .badSeekTable("it is truncated") }
            entries.append(Entry(compressedSize: compressedSize, contentSize: content, checksum: checksum))
            total += Int(compressedSize)
        }
        guard total == frameByteCount else {
            throw .badSeekTable("the sizes of the frames do not add up to the size of the file")
        }
        self.init(entries)
    }
}

extension ByteSource {
    /// Returns exactly `count` bytes at `offset`.
    ///
    /// - Throws: ``ContainerError`` with the reason `truncated` if the source has become shorter.
    func read(at offset: Int, count: Int) throws(ContainerError) -> [UInt8] {
        let result: [UInt8]
        do {
            result = try bytes(at: offset, count: count)
        } catch {
            throw ContainerError(at: offset, .file(error))
        }
        guard result.count == count else { throw ContainerError(at: offset, .truncated) }
        return result
    }
}

extension Array where Element == UInt8 {
    /// Returns the 32-bit little-endian number at `offset`, or `nil` if the array is too short.
    func littleEndian32(at offset: Int) -> UInt32? {
        guard offset >= 0, count >= 4, offset <= count - 4 else { return nil }
        return (0..<4).reversed().reduce(0) { $0 << 8 | UInt32(self[offset + $1]) }
    }

    /// Appends `value` in little-endian byte order.
    fileprivate mutating func appendLittleEndian(_ value: UInt32) {
        for shift in [0, 8, 16, 24] as [UInt32] { append(UInt8(truncatingIfNeeded: value >> shift)) }
    }
}
