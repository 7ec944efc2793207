import Bytes

/// The header of an entry in a tar archive.
///
/// Source: IEEE Std 1003.1, `pax`, "ustar Interchange Format"; GNU tar's manual, "Basic Tar Format".
public struct TarEntry: Sendable, Equatable {
    /// The variant of the header format.
    public enum Dialect: Sendable {
        /// The POSIX format.
        case posix
        /// The GNU format, in which numbers may be binary and names have no prefixes.
        case gnu
        /// The format of the original tar, which has only the basic fields.
        case old
    }

    /// The type flags of entries.
    public enum Kind {
        /// A file.
        public static let file = UInt8(ascii: "0")
        /// A hard link to another member.
        public static let hardLink = UInt8(ascii: "1")
        /// A symbolic link.
        public static let symbolicLink = UInt8(ascii: "2")
        /// A folder.
        public static let folder = UInt8(ascii: "5")
        /// A named pipe.
        public static let pipe = UInt8(ascii: "6")
        /// A file that is stored contiguously on disk, which most programs extract as an ordinary file.
        public static let contiguousFile = UInt8(ascii: "7")
        /// ``PaxRecords`` that describe the next entry.
        public static let extendedHeader = UInt8(ascii: "x")
        /// The name of the next entry in the GNU format.
        public static let longName = UInt8(ascii: "L")
        /// The link target of the next entry in the GNU format.
        public static let longTarget = UInt8(ascii: "K")
    }

    /// The size of a block in bytes.
    ///
    /// A header occupies one block, and contents are padded to whole blocks.
    public static let blockSize = 512

    /// The variant of the header format.
    public let dialect: Dialect
    /// The type flag, which need not be one of ``Kind``.
    ///
    /// The flag NUL of old programs is replaced with ``Kind/file``.
    public let kind: UInt8
    /// The path, including the prefix of the POSIX format.
    public let name: [UInt8]
    /// The target of a link.
    public let target: [UInt8]
    /// The size of the contents according to the header, in bytes.
    public let size: Int

    /// Parses a block of ``blockSize`` bytes, or returns `nil` if its checksum or size field is invalid.
    public init?(_ block: Span<UInt8>) {
        guard block.count == Self.blockSize, Self.hasChecksum(block), let size = Self.number(Field.size, of: block)
        else { return nil }
        self.size = size
        kind = block[Field.kind] == 0 ? Kind.file : block[Field.kind]
        dialect = Self.dialect(of: block)
        target = Self.text(Field.target, of: block)
        let name = Self.text(Field.name, of: block)
        let prefix = dialect == .posix ? Self.text(Field.prefix, of: block) : []
        let slash = UInt8(ascii: "/")
        self.name = prefix.isEmpty ? name : prefix.last == slash ? prefix + name : prefix + [slash] + name
    }

    /// Returns the number of bytes that pad contents of the given size to whole blocks.
    public static func padding(of size: Int) -> Int { -size & (blockSize - 1) }
}

// MARK: - Fields

extension TarEntry {
    private enum Field {
        static let name = 0..<100
        static let size = 124..<136
        /// The numeric fields: mode, user, group, size, modification time and device.
        static let numbers = [100..<108, 108..<116, 116..<124, size, 136..<148, 329..<337, 337..<345]
        static let checksum = 148..<156
        static let kind = 156
        static let target = 157..<257
        static let posixMagic = 257..<263
        static let gnuMagic = 257..<265
        static let prefix = 345..<500
    }

    private static let posixMagic = Array("ustar\u{0}".utf8)
    private static let gnuMagic = Array("ustar  \u{0}".utf8)

    private static func dialect(of block: Span<UInt8>) -> Dialect {
        if block.extracting(Field.posixMagic).equals(posixMagic.span) { return .posix }
        return block.extracting(Field.gnuMagic).equals(gnuMagic.span) ? .gnu : .old
    }

    /// Returns whether the checksum of a block is correct.
    ///
    /// The checksum is the sum of all bytes, with each byte of the checksum field counted as a space. Sums of signed
    /// bytes are accepted too, because some old programs write them.
    public static func hasChecksum(_ block: Span<UInt8>) -> Bool {
        guard block.count == blockSize, let stored = number(Field.checksum, of: block) else { return false }
        // The whole field must consist of digits, spaces and NULs.
        for index in Field.checksum where block[index] != 0 && block[index] != UInt8(ascii: " ") {
            guard block[index].isOctalDigit else { return false }
        }
        var sum = 0
        for index in block.indices { sum &+= Int(block[index]) }
        for index in Field.checksum { sum += Int(UInt8(ascii: " ")) - Int(block[index]) }
        if stored == sum { return true }
        for index in block.indices where !Field.checksum.contains(index) && block[index] >= 0x80 { sum -= 0x100 }
        return stored == sum
    }

    /// Returns whether all numeric fields of a block are octal, or marked as binary.
    ///
    /// Other readers reject an archive if its first header has an invalid numeric field, even if the checksum is
    /// correct.
    static func hasNumbers(_ block: Span<UInt8>) -> Bool {
        Field.numbers.allSatisfy { field in
            guard ![0, 0x80, 0xFF].contains(block[field.lowerBound]) else { return true }
            return field.drop { block[$0] == UInt8(ascii: " ") }
                .drop { block[$0].isOctalDigit }
                .allSatisfy { block[$0] == 0 || block[$0] == UInt8(ascii: " ") }
        }
    }

    /// Returns the bytes of a field before the first NUL.
    private static func text(_ field: Range<Int>, of block: Span<UInt8>) -> [UInt8] {
        var end = field.lowerBound
        // Most fields are empty.
        guard block[end] != 0 else { return [] }
        while end < field.upperBound, block[end] != 0 { end += 1 }
        return block.extracting(field.lowerBound..<end).copied()
    }

    /// Returns the value of an octal field or of a binary field of the GNU format, or `nil` if it is invalid.
    ///
    /// The value of an empty field is 0.
    private static func number(_ field: Range<Int>, of block: Span<UInt8>) -> Int? {
        if block[field.lowerBound] & 0x80 != 0 { return binaryNumber(field, of: block) }
        var index = field.lowerBound
        while index < field.upperBound, block[index] == UInt8(ascii: " ") { index += 1 }
        var value = 0
        while index < field.upperBound, block[index] != 0, block[index] != UInt8(ascii: " ") {
            guard block[index].isOctalDigit else { return nil }
            value = value << 3 | Int(block[index] - UInt8(ascii: "0"))
            index += 1
        }
        return value
    }

    private static func binaryNumber(_ field: Range<Int>, of block: Span<UInt8>) -> Int? {
        var value = Int(block[field.lowerBound] & 0x7F)
        for index in field.dropFirst() {
            guard value >> 48 == 0 else { return nil }
            value = value << 8 | Int(block[index])
        }
        return value
    }
}
