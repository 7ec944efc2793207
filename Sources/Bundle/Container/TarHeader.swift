import Bytes

/// The 512-byte tar header of a member, as Pingferry writes it.
///
/// The header has the POSIX ustar format and describes a regular file with mode 0600, owner 0 and time 0.
///
/// Source: IEEE Std 1003.1, `pax`, "ustar Interchange Format".
public struct TarHeader: Sendable, Equatable {
    /// The size, in bytes, of a tar block.
    ///
    /// A header is one block.
    public static let blockSize = 512
    /// The maximum size of a member in bytes: 8 GiB - 1.
    public static let maxSize = 0o777_7777_7777
    /// The maximum length, in bytes, of a name that does not use the prefix field of the header.
    public static let maxNameLength = 100

    /// The name of the member: a relative path of 1 to 100 printable ASCII characters, without empty, `.` or `..`
    /// components.
    public let name: String
    /// The size of the contents in bytes.
    public let size: Int

    /// Creates the header of a member.
    public init(name: String, size: Int) throws(TarHeaderError) {
        guard Self.isValid(name) else { throw .invalidName }
        guard (0...Self.maxSize).contains(size) else { throw .invalidSize }
        self.name = name
        self.size = size
    }

    /// The number of zero bytes that fill the last block of the contents.
    public var padding: Int { -size & (Self.blockSize - 1) }

    /// The total size, in bytes, of the header, the contents and the padding.
    public var memberSize: Int { Self.blockSize + size + padding }

    private static func isValid(_ name: String) -> Bool {
        let bytes = name.utf8
        guard (1...maxNameLength).contains(bytes.count), bytes.allSatisfy({ (0x20...0x7e).contains($0) }) else {
            return false
        }
        // Empty components are kept, so that absolute paths and paths of folders are rejected.
        return bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).allSatisfy {
            !$0.isEmpty && !$0.elementsEqual(".".utf8) && !$0.elementsEqual("..".utf8)
        }
    }
}

/// The reason why a block is not a valid `TarHeader`.
public enum TarHeaderError: Error, Sendable, Equatable {
    /// The block does not have 512 bytes.
    case wrongLength
    /// The checksum is wrong, because the header is damaged or the block is not a header.
    case wrongChecksum
    /// The header does not have the magic number and the version of POSIX ustar.
    case notUstar
    /// The given type flag is not the type flag of a regular file.
    case unsupportedType(UInt8)
    /// The name is not a relative path of 1 to 100 printable ASCII characters, or it has an empty, `.` or `..`
    /// component.
    case invalidName
    /// The size is negative or too large, or the size field does not have 11 octal digits.
    case invalidSize
    /// Another field, such as the mode or the owner, differs from what Pingferry writes.
    case unexpectedField
}

// MARK: - The bytes

extension TarHeader {
    /// The offsets of the fields in the block.
    private enum Field {
        static let mode = 100
        static let owner = 108
        static let group = 116
        static let size = 124
        static let time = 136
        static let checksum = 148
        static let type = 156
        static let magic = 257
        static let deviceMajor = 329
        static let deviceMinor = 337
    }

    private static let regularFile = UInt8(ascii: "0")
    private static let magicAndVersion = Array("ustar\u{0}00".utf8)
    private static let octalDigits = 11

    /// Returns the 512 bytes of the header.
    public func encoded() -> [UInt8] {
        var block = [UInt8](repeating: 0, count: Self.blockSize)
        Self.put(Array(name.utf8), at: 0, in: &block)
        Self.put(Self.octal(0o600, digits: 7), at: Field.mode, in: &block)
        for field in [Field.owner, Field.group, Field.deviceMajor, Field.deviceMinor] {
            Self.put(Self.octal(0, digits: 7), at: field, in: &block)
        }
        Self.put(Self.octal(size, digits: Self.octalDigits), at: Field.size, in: &block)
        Self.put(Self.octal(0, digits: Self.octalDigits), at: Field.time, in: &block)
        block[Field.type] = Self.regularFile
        Self.put(Self.magicAndVersion, at: Field.magic, in: &block)
        Self.put(Self.checksumText(block.span), at: Field.checksum, in: &block)
        return block
    }

    /// Decodes a header.
    ///
    /// - Throws: ``TarHeaderError`` unless `block` equals the bytes that ``encoded()`` returns for the header.
    public static func decode(_ block: Span<UInt8>) throws(TarHeaderError) -> TarHeader {
        guard block.count == blockSize else { throw .wrongLength }
        guard matches(checksumText(block), at: Field.checksum, in: block) else { throw .wrongChecksum }
        guard matches(magicAndVersion, at: Field.magic, in: block) else { throw .notUstar }
        guard block[Field.type] == regularFile else { throw .unsupportedType(block[Field.type]) }
        var size = 0
        for index in Field.size..<Field.size + octalDigits {
            guard block[index].isOctalDigit else { throw .invalidSize }
            size = size << 3 | Int(block[index] - UInt8(ascii: "0"))
        }
        var name: [UInt8] = []
        for index in 0..<maxNameLength where name.count == index && block[index] != 0 {
            name.append(block[index])
        }
        let header = try TarHeader(name: String(decoding: name, as: UTF8.self), size: size)
        guard matches(header.encoded(), at: 0, in: block) else { throw .unexpectedField }
        return header
    }

    private static func put(_ bytes: [UInt8], at offset: Int, in block: inout [UInt8]) {
        block.replaceSubrange(offset..<offset + bytes.count, with: bytes)
    }

    private static func matches(_ bytes: [UInt8], at offset: Int, in block: Span<UInt8>) -> Bool {
        bytes.indices.allSatisfy { block[offset + $0] == bytes[$0] }
    }

    /// Returns `value` as octal digits with leading zeros.
    private static func octal(_ value: Int, digits: Int) -> [UInt8] {
        (0..<digits).reversed().map { UInt8(ascii: "0") + UInt8(value >> (3 * $0) & 7) }
    }

    /// Returns the correct contents of the checksum field of `block`: six octal digits, a NUL and a space.
    private static func checksumText(_ block: Span<UInt8>) -> [UInt8] {
        // The checksum field counts as eight spaces.
        var sum = 8 * Int(UInt8(ascii: " "))
        for index in 0..<blockSize where !(Field.checksum..<Field.checksum + 8).contains(index) {
            sum += Int(block[index])
        }
        return octal(sum, digits: 6) + [0, UInt8(ascii: " ")]
    }
}
