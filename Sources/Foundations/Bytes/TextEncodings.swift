/// The Base64 encoding of RFC 4648, section 4.
public enum Base64 {
    private static let blankMarker: UInt8 = 0xFE
    private static let invalidMarker: UInt8 = 0xFF

    /// Returns the number of bytes that `text` encodes in Base64, or `nil` if `text` is malformed.
    ///
    /// Line breaks are ignored. Spaces and tabs make the text malformed unless `allowsBlanks` is set. Padding is
    /// optional, but must have the right length if `needsPadding` is set.
    public static func decodedCount(
        _ text: Span<UInt8>, needsPadding: Bool = true, allowsBlanks: Bool = true
    ) -> Int? {
        var digits = 0
        var padding = 0
        for index in text.indices {
            let byte = text[index]
            if byte == UInt8(ascii: "=") {
                padding += 1
                continue
            }
            switch value(of: byte) {
            case blankMarker:
                let isLineBreak = byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r")
                guard isLineBreak || allowsBlanks else { return nil }
            case invalidMarker: return nil
            default:
                guard padding == 0 else { return nil }
                digits += 1
            }
        }
        guard digits % 4 != 1 else { return nil }
        let isPadded = padding <= 2 && (padding == 0 || (digits + padding).isMultiple(of: 4))
        guard isPadded || !needsPadding else { return nil }
        return digits / 4 * 3 + max(digits % 4 - 1, 0)
    }

    /// Decodes Base64 text, or returns `nil` if the text is malformed.
    ///
    /// The parameters have the same meaning as in ``decodedCount(_:needsPadding:allowsBlanks:)``.
    public static func decoded(
        _ text: Span<UInt8>, needsPadding: Bool = true, allowsBlanks: Bool = true
    ) -> [UInt8]? {
        guard let count = decodedCount(text, needsPadding: needsPadding, allowsBlanks: allowsBlanks) else { return nil }
        return [UInt8](capacity: count) { decode(text, into: &$0) }
    }

    /// Appends the bytes that `text` encodes in Base64 to `output`.
    ///
    /// `text` must be well-formed. `output` must have capacity for the number of bytes that `decodedCount` returns for
    /// `text`.
    public static func decode(_ text: Span<UInt8>, into output: inout OutputSpan<UInt8>) {
        var bits: UInt32 = 0
        var count = 0
        for index in text.indices {
            let value = value(of: text[index])
            guard value < 64 else { continue }
            bits = bits << 6 | UInt32(value)
            count += 6
            if count >= 8 {
                count -= 8
                output.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
    }

    private static func value(of byte: UInt8) -> UInt8 {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): byte - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        case 0x20, 0x09, 0x0A, 0x0D: blankMarker
        default: invalidMarker
        }
    }
}

extension [UInt8] {
    /// Appends the Base64 encoding of `bytes`, with padding.
    public mutating func append(base64 bytes: Span<UInt8>) {
        let alphabet = Base64.alphabet.span
        append(addingCapacity: (bytes.count + 2) / 3 * 4) { output in
            var index = 0
            while index < bytes.count {
                let left = bytes.count - index
                let second = left > 1 ? bytes[index + 1] : 0
                let third = left > 2 ? bytes[index + 2] : 0
                let bits = Int(bytes[index]) << 16 | Int(second) << 8 | Int(third)
                output.append(alphabet[bits >> 18])
                output.append(alphabet[bits >> 12 & 63])
                output.append(left > 1 ? alphabet[bits >> 6 & 63] : UInt8(ascii: "="))
                output.append(left > 2 ? alphabet[bits & 63] : UInt8(ascii: "="))
                index += 3
            }
        }
    }
}

extension Base64 {
    fileprivate static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
}

/// Percent-encoding in URLs and form bodies.
///
/// Source: RFC 3986, section 2.
public enum PercentEncoding {
    /// Returns `text`, a path and query, with all characters encoded that a URL must not contain.
    ///
    /// Percent signs are kept, because a part of `text` may already be encoded.
    public static func encodedPath(_ text: String) -> String {
        var output: [UInt8] = []
        append(text.utf8, to: &output) { isUnreserved($0) || $0.isOne(of: "!$&'()*+,;=:@/?%") }
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

// MARK: - Byte order marks

/// The encodings of JSON texts, of which only UTF-8 is read.
public enum ByteOrderMark {
    /// The mark that some programs write at the beginning of a text in UTF-8.
    public static let utf8: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// Returns the name of the encoding of a JSON text that begins with `start` and is not in UTF-8, or `nil` if no other
    /// encoding is recognized.
    ///
    /// Without a byte order mark, the zero bytes of the first two characters show the encoding.
    public static func otherEncoding(ofJSON start: some Collection<UInt8>) -> String? {
        let first = Array(start.prefix(4))
        if first == [0xFF, 0xFE, 0, 0] || first == [0, 0, 0xFE, 0xFF] { return "UTF-32" }
        if first.starts(with: [0xFF, 0xFE]) || first.starts(with: [0xFE, 0xFF]) { return "UTF-16" }
        let brackets = "{[".utf8
        guard first.count == 4 else { return nil }
        // The second character is in ASCII, too. A single zero is damage, after which the rest of the text can be read.
        let zeros = first.map { $0 == 0 }
        if brackets.contains(first[0]), zeros == [false, true, false, true] { return "UTF-16LE" }
        return brackets.contains(first[1]) && zeros == [true, false, true, false] ? "UTF-16BE" : nil
    }

    /// Returns the message for a JSON text that begins with `start` and is not in UTF-8, or `nil` if no other encoding is
    /// recognized.
    public static func message(forJSON start: some Collection<UInt8>) -> String? {
        otherEncoding(ofJSON: start).map { "the text is in \($0); convert it with iconv -f \($0) -t UTF-8" }
    }
}

extension [UInt8] {
    /// The bytes with spaces in the place of a UTF-8 byte order mark, so that the offsets in the text stay the same.
    public var blankingByteOrderMark: [UInt8] {
        guard starts(with: ByteOrderMark.utf8) else { return self }
        return ByteOrderMark.utf8.map { _ in UInt8(ascii: " ") } + dropFirst(ByteOrderMark.utf8.count)
    }
}
