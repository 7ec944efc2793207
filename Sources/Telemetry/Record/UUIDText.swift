import Bytes
import Hashing

/// UUIDs in the notation of the systems.
public enum UUIDText {
    /// Returns the UUID of version 5 of a name in the namespace of URLs, in uppercase.
    ///
    /// Source: RFC 9562, section 5.5.
    public static func nameBased(_ name: String) -> String {
        var hash = SHA1()
        hash.update(urlNamespace.span)
        hash.update(name.utf8.span)
        return text(of: Array(hash.finalize().prefix(16)), version: 5).uppercased()
    }

    /// Returns 16 bytes as a UUID in lowercase, with the bits of the version and the variant replaced.
    static func text(of bytes: [UInt8], version: UInt8) -> String {
        // Formatting is written out because it runs for each pseudonym of each record.
        var text: [UInt8] = []
        text.reserveCapacity(36)
        for (place, stored) in bytes.enumerated() {
            if place == 4 || place == 6 || place == 8 || place == 10 { text.append(UInt8(ascii: "-")) }
            let byte =
                switch place {
                case 6: stored & 0x0F | version << 4
                case 8: stored & 0x3F | 0x80
                default: stored
                }
            text.append((byte >> 4).lowerHexadecimalDigit)
            text.append((byte & 0xF).lowerHexadecimalDigit)
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The namespace 6ba7b811-9dad-11d1-80b4-00c04fd430c8.
    private static let urlNamespace: [UInt8] = [
        0x6B, 0xA7, 0xB8, 0x11, 0x9D, 0xAD, 0x11, 0xD1, 0x80, 0xB4, 0x00, 0xC0, 0x4F, 0xD4, 0x30, 0xC8,
    ]
}

extension Span<UInt8> {
    /// Whether the bytes are a UUID of 8-4-4-4-12 hexadecimal digits in either case.
    public var isUUID: Bool {
        let dash = UInt8(ascii: "-")
        guard count == 36, self[8] == dash, self[13] == dash, self[18] == dash, self[23] == dash else { return false }
        // The digits are counted without a branch per byte.
        var digits: UInt8 = 0
        for index in 0..<36 {
            let byte = self[index]
            let isNumeral: UInt8 = byte &- UInt8(ascii: "0") < 10 ? 1 : 0
            let isLetter: UInt8 = (byte | 0x20) &- UInt8(ascii: "a") < 6 ? 1 : 0
            digits &+= isNumeral | isLetter
        }
        return digits == 32
    }
}
