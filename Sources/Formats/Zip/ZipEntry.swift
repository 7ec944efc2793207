import Bytes

/// An entry of the directory of a zip archive.
///
/// Source: "APPNOTE.TXT - .ZIP File Format Specification", "Central directory structure" and "Zip64 Extended Information
/// Extra Field".
public struct ZipEntry: Sendable, Equatable {
    /// What flags say of a member.
    public enum Flag {
        /// How the compressor went about it, which a reader does not need to know.
        public static let compressorHints = 0b110
        /// Checksum and sizes stand behind the contents.
        public static let isMeasuredBehind = 1 << 3
        /// The name is UTF-8.
        public static let isUnicode = 1 << 11
    }

    /// How contents are packed.
    public enum Method {
        /// Not at all.
        public static let stored = 0
        /// As RFC 1951 has it.
        public static let deflated = 8
    }

    /// Extra fields that make something else of a member than the rest of its entry says: a name in Unicode, attributes,
    /// two kinds of encryption.
    static let changing: Set<Int> = [0x7075, 0x6C78, 0x0017, 0x9901]

    /// Bits of ``Flag``, and others.
    public let flags: Int
    /// One of ``Method``, or something else.
    public let method: Int
    /// The CRC-32 of the contents.
    public let checksum: UInt32
    /// How many bytes the contents have in the archive.
    public let compressedSize: Int
    /// How many bytes the contents have when they are unpacked.
    public let size: Int
    /// The system whose attributes the member has: 0 is MS-DOS, 3 is Unix.
    public let system: UInt8
    /// The attributes: the upper half is the mode of Unix.
    public let attributes: UInt32
    /// Where the header of the member stands in the archive.
    public let offset: Int
    /// The path as stored.
    public let name: [UInt8]
    /// Whether extra fields make something else of the member.
    public let isChangedByExtra: Bool

    private static let fixedSize = 46

    /// Reads the entry at `place` in the directory, and moves `place` behind it. Returns `nil`, and leaves `place` unchanged, if
    /// the entry is incomplete or contradicts itself.
    public init?(_ directory: Span<UInt8>, at place: inout Int) {
        let bytes = directory.extracting(droppingFirst: place)
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
        isChangedByExtra = extra.isChanging
        place += end
    }
}

/// The extra fields of an entry or of the header of a member.
struct ZipExtraFields {
    /// Whether one makes something else of the member.
    private(set) var isChanging = false
    /// The numbers of 64 bits that were not used yet. They replace, in order, the numbers of 32 bits that are all ones.
    private var largeNumbers: ArraySlice<Int> = []

    /// The code of the field "extended timestamp" of Info-ZIP.
    private static let times = 0x5455

    /// Reads the fields. Returns `nil` if the bytes are no fields.
    init?(_ bytes: Span<UInt8>) {
        var place = 0
        while bytes.count - place >= 4 {
            let code = bytes.zipNumber16(at: place)
            let end = place + 4 + bytes.zipNumber16(at: place + 2)
            // Other readers reject an entry with times that lack their flags.
            guard end <= bytes.count, code != Self.times || end > place + 4 else { return nil }
            if code == 1 {
                for number in stride(from: place + 4, through: end - 8, by: 8) {
                    guard let value = bytes.zipNumber64(at: number) else { return nil }
                    largeNumbers.append(value)
                }
            }
            if ZipEntry.changing.contains(code) { isChanging = true }
            place = end
        }
        guard place == bytes.count else { return nil }
    }

    /// Returns a 32-bit number. If all its bits are set, removes and returns the next 64-bit number, or `nil` if there is none.
    mutating func nextNumber(replacing small: Int) -> Int? {
        small == 0xFFFF_FFFF ? largeNumbers.popFirst() : small
    }
}
