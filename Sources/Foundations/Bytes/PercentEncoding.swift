/// Percent-encoding in URLs and form bodies.
///
/// Source: RFC 3986, section 2.
public enum PercentEncoding {
    /// Returns `text`, a path and query, with all characters encoded that a URL must not contain.
    ///
    /// Percent signs are kept, because a part of `text` may already be encoded.
    public static func encodedPath(_ text: String) -> String {
        var output: [UInt8] = []
        append(text.utf8, to: &output) { isUnreserved($0) || "!$&'()*+,;=:@/?%".utf8.contains($0) }
        return String(decoding: output, as: UTF8.self)
    }

    /// Appends the percent-encoded form value `value` to `output`.
    ///
    /// All characters except letters, digits and `-._~` are encoded, so that a space becomes `%20`.
    ///
    /// Source: "Leanplum (Mozilla MMA): stored requests and the `multi` upload", section C.3.
    public static func append(formValue value: some Collection<UInt8>, to output: inout [UInt8]) {
        append(value, to: &output, keeping: isUnreserved)
    }

    /// Decodes each `%XX` in `text`, or returns `nil` if a percent sign is not followed by two hexadecimal digits.
    ///
    /// If `plusIsSpace` is set, a plus sign represents a space, as in form bodies.
    public static func decoded(_ text: Span<UInt8>, plusIsSpace: Bool) -> [UInt8]? {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(text.count)
        var index = 0
        while index < text.count {
            switch text[index] {
            case UInt8(ascii: "%"):
                guard index + 2 < text.count, let high = text[index + 1].hexadecimalValue,
                    let low = text[index + 2].hexadecimalValue
                else { return nil }
                decoded.append(high << 4 | low)
                index += 2
            case UInt8(ascii: "+") where plusIsSpace: decoded.append(UInt8(ascii: " "))
            default: decoded.append(text[index])
            }
            index += 1
        }
        return decoded
    }

    private static func append(
        _ bytes: some Collection<UInt8>, to output: inout [UInt8], keeping isKept: (UInt8) -> Bool
    ) {
        output.reserveCapacity(output.count + bytes.count + bytes.count / 2)
        for byte in bytes {
            if isKept(byte) {
                output.append(byte)
            } else {
                output.append(UInt8(ascii: "%"))
                output.append((byte >> 4).upperHexadecimalDigit)
                output.append((byte & 0xF).upperHexadecimalDigit)
            }
        }
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"): true
        default: byte.isLetter || byte.isDigit
        }
    }
}
