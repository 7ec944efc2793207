import Bytes

/// An entry in the central directory of a zip archive.
///
/// Source: "APPNOTE.TXT - .ZIP File Format Specification", "Central directory structure" and "Zip64 Extended
/// Information Extra Field".
public struct ZipEntry: Sendable, Equatable {
    /// The general purpose bit flags of a member.
    public enum Flag {
        /// The compression level, which readers ignore.
        public static let compressorHints = 0b110
        /// The checksum and the sizes follow the contents.
        public static let dataDescriptor = 1 << 3
        /// The name is UTF-8.
        public static let unicodeName = 1 << 11
    }

    /// The compression methods.
    public enum Method {
        /// No compression.
        public static let stored = 0
        /// DEFLATE, as defined in RFC 1951.
        public static let deflated = 8
    }

    /// The codes of the extra fields that override the name, attributes or encryption of an entry.
    static let overridingFields: Set<Int> = [0x7075, 0x6C78, 0x0017, 0x9901]

    /// The bit flags, which can include bits that are not in ``Flag``.
    public let flags: Int
    /// The compression method, which need not be one of ``Method``.
    public let method: Int
    /// The CRC-32 of the contents.
    public let checksum: UInt32
    /// The size of the compressed contents, in bytes.
    public let compressedSize: Int
    /// The size of the decompressed contents, in bytes.
    public let size: Int
    /// The system that defines the attributes: 0 for MS-DOS, 3 for Unix.
    public let system: UInt8
    /// The external attributes, whose upper 16 bits are the mode on Unix.
    public let attributes: UInt32
    /// The offset of the local header in the archive.
    public let offset: Int
    /// The path as stored in the archive.
    public let name: [UInt8]
    /// Whether an extra field overrides the name, attributes or encryption of the entry.
    public let hasOverridingField: Bool

    private static let fixedSize = 46

    /// Parses the entry at `position` in the directory and advances `position` to the next entry.
    ///
    /// Returns `nil`, and leaves `position` unchanged, if the entry is incomplete or inconsistent.
    public init?(_ directory: Span<UInt8>, at position: inout Int) {
        let bytes = directory.extracting(droppingFirst: position)
        guard bytes.count >= Self.fixedSize, bytes.zipNumber32(at: 0) == 0x0201_4B50 else { return nil }
        let nameEnd = Self.fixedSize + bytes.zipNumber16(at: 28)
        let extraEnd = nameEnd + bytes.zipNumber16(at: 30)
        let end = extraEnd + bytes.zipNumber16(at: 32)
        guard end <= bytes.count, bytes.zipNumber16(at: 34) == 0 else { return nil }
        guard var extra = ZipExtraFields(bytes.extracting(nameEnd..<extraEnd)),
            let size = extra.nextNumber(replacing: bytes.zipNumber32(at: 24)),
            let compressedSize = extra.nextNumber(replacing: bytes.zipNumber32(at: 20)),
            let offset = extra.nextNumber(replacing: bytes.zipNumber32(at: 42))
        else { return nil }
        flags = bytes.zipNumber16(at: 8)
        method = bytes.zipNumber16(at: 10)
        checksum = UInt32(truncatingIfNeeded: bytes.zipNumber32(at: 16))
        system = bytes[5]
        attributes = UInt32(truncatingIfNeeded: bytes.zipNumber32(at: 38))
        (self.size, self.compressedSize, self.offset) = (size, compressedSize, offset)
        name = bytes.extracting(Self.fixedSize..<nameEnd).copied()
        hasOverridingField = extra.overridesEntry
        position += end
    }
}

/// The extra fields of a directory entry or local header.
struct ZipExtraFields {
    /// Whether a field overrides the name, attributes or encryption of the entry.
    private(set) var overridesEntry = false
    /// The 64-bit numbers that are not used yet.
    ///
    /// They replace, in this order, the 32-bit numbers whose bits are all set.
    private var largeNumbers: ArraySlice<Int> = []

    /// The code of the extended timestamp field of Info-ZIP.
    private static let timestamps = 0x5455

    /// Parses the fields, or returns `nil` if they are malformed.
    init?(_ bytes: Span<UInt8>) {
        var position = 0
        while bytes.count - position >= 4 {
            let code = bytes.zipNumber16(at: position)
            let end = position + 4 + bytes.zipNumber16(at: position + 2)
            // Other readers reject an entry whose timestamp field has no flags.
            guard end <= bytes.count, code != Self.timestamps || end > position + 4 else { return nil }
            if code == 1 {
                for number in stride(from: position + 4, through: end - 8, by: 8) {
                    guard let value = bytes.zipNumber64(at: number) else { return nil }
                    largeNumbers.append(value)
                }
            }
            if ZipEntry.overridingFields.contains(code) { overridesEntry = true }
            position = end
        }
        guard position == bytes.count else { return nil }
    }

    /// Returns `small`, or the next 64-bit number if all 32 bits of `small` are set.
    ///
    /// Returns `nil` if no 64-bit number is left.
    mutating func nextNumber(replacing small: Int) -> Int? {
        small == 0xFFFF_FFFF ? largeNumbers.popFirst() : small
    }
}
