import Bytes

/// The header of an entry of a tar archive, as any tar program writes it.
///
/// Source: IEEE Std 1003.1, `pax`, "ustar Interchange Format"; GNU tar's manual, "Basic Tar Format".
public struct TarEntry: Sendable, Equatable {
    /// Who defined the fields that the first tar did not have.
    public enum Dialect: Sendable {
        /// POSIX; GNU, whose numbers may be binary and which has no prefixes; nobody.
        case posix, gnu, old
    }

    /// What an entry is; the characters that stand for it.
    public enum Kind {
        /// The contents of a file.
        public static let file = UInt8(ascii: "0")
        /// Another name of a file.
        public static let hardLink = UInt8(ascii: "1")
        /// A path that stands for something else.
        public static let symbolicLink = UInt8(ascii: "2")
        /// A folder.
        public static let folder = UInt8(ascii: "5")
        /// A pipe.
        public static let pipe = UInt8(ascii: "6")
        /// A file whose bytes lie together on disk; a plain one for most programs.
        public static let contiguousFile = UInt8(ascii: "7")
        /// Records that tell of the next entry, as POSIX has them; see ``PaxRecords``.
        public static let extended = UInt8(ascii: "x")
        /// The name of the next entry, as GNU has it.
        public static let longName = UInt8(ascii: "L")
        /// Where the next entry leads, as GNU has it.
        public static let longTarget = UInt8(ascii: "K")
    }

    /// How many bytes a header fills, and contents are a multiple of.
    public static let blockSize = 512

    /// Who defined the fields.
    public let dialect: Dialect
    /// One of ``Kind``, or something else; a NUL of old programs is a file.
    public let kind: UInt8
    /// The path, with the prefix that POSIX has room for.
    public let name: [UInt8]
    /// Where a link leads.
    public let target: [UInt8]
    /// How many bytes of contents the header tells of.
    public let size: Int

    /// Reads a block of ``blockSize`` bytes. Returns `nil` if its checksum is not that of a header, or its size is no number.
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

    /// The zero bytes that fill up the last block of contents.
    public static func padding(of size: Int) -> Int { -size & (blockSize - 1) }
}

// MARK: - Fields

extension TarEntry {
    private enum Field {
        static let name = 0..<100
        static let size = 124..<136
        /// The mode, user, group, size, modification time and device.
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

    /// Whether the sum that a block tells is that of its bytes, those of the sum itself taken for spaces. Some programs
    /// took bytes for signed.
    public static func hasChecksum(_ block: Span<UInt8>) -> Bool {
        guard block.count == blockSize, let stored = number(Field.checksum, of: block) else { return false }
        // Nothing but digits, spaces and NULs, behind the number too.
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

    /// Returns whether all numbers of a block are octal, or marked as binary. Other readers reject an archive that begins with
    /// a header that is different, whatever its checksum is.
    static func hasNumbers(_ block: Span<UInt8>) -> Bool {
        Field.numbers.allSatisfy { field in
            guard ![0, 0x80, 0xFF].contains(block[field.lowerBound]) else { return true }
            return field.drop { block[$0] == UInt8(ascii: " ") }
                .drop { block[$0].isOctalDigit }
                .allSatisfy { block[$0] == 0 || block[$0] == UInt8(ascii: " ") }
        }
    }

    /// What stands in front of the first NUL.
    private static func text(_ field: Range<Int>, of block: Span<UInt8>) -> [UInt8] {
        var end = field.lowerBound
        // Most fields are empty.
        guard block[end] != 0 else { return [] }
        while end < field.upperBound, block[end] != 0 { end += 1 }
        return block.extracting(field.lowerBound..<end).copied()
    }

    /// An octal number between spaces, or a binary one as GNU writes large ones; no digits are nothing.
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
