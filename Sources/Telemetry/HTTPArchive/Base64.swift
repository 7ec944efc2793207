/// Base64 with the standard alphabet (RFC 4648, section 4); padding and line breaks may be missing or present.
enum Base64 {
    /// The bytes that a text stands for; nil if it is no base64.
    static func decode(_ text: Span<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 4 * 3)
        var bits: UInt32 = 0
        var count = 0
        var isPadded = false
        for index in text.indices {
            let byte = text[index]
            if byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") { continue }
            if byte == UInt8(ascii: "=") {
                isPadded = true
                continue
            }
            guard !isPadded, let value = value(of: byte) else { return nil }
            bits = bits << 6 | UInt32(value)
            count += 1
            if count % 4 == 0 {
                bytes.append(UInt8(bits >> 16 & 0xFF))
                bytes.append(UInt8(bits >> 8 & 0xFF))
                bytes.append(UInt8(bits & 0xFF))
            }
        }
        switch count % 4 {
        case 1: return nil
        case 2: bytes.append(UInt8(bits >> 4 & 0xFF))
        case 3:
            bytes.append(UInt8(bits >> 10 & 0xFF))
            bytes.append(UInt8(bits >> 2 & 0xFF))
        default: break
        }
        return bytes
    }

    private static func value(of byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): byte - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
