import Bytes

/// The text format in which NeXTSTEP wrote property lists and Xcode writes `.strings` files: `{ "key" = "value"; }`.
enum OpenStepText {
    /// The maximum number of bytes that are examined.
    private static let headSize = 4096

    /// Returns whether `bytes` appear to be in this format, so that an error message can name the format.
    ///
    /// After white space and comments, the text must begin with `(` and an element, with `{`, a key and `=`, or with a
    /// key and `=` or `;`.
    static func matches(_ bytes: Span<UInt8>) -> Bool {
        var text = characters(of: bytes)[...]
        skipSpace(&text)
        if text.first == UInt8(ascii: "(") {
            text.removeFirst()
            skipSpace(&text)
            guard skipKey(&text) else { return false }
            skipSpace(&text)
            return text.first == UInt8(ascii: ",") || text.first == UInt8(ascii: ")")
        }
        let isInBraces = text.first == UInt8(ascii: "{")
        if isInBraces {
            text.removeFirst()
            skipSpace(&text)
            if text.first == UInt8(ascii: "}") { return false }
        }
        guard skipKey(&text) else { return false }
        skipSpace(&text)
        return text.first == UInt8(ascii: "=") || !isInBraces && text.first == UInt8(ascii: ";")
    }

    private static func characters(of bytes: Span<UInt8>) -> [UInt8] {
        guard let isBigEndian = UTF16Source.isBigEndian(bytes) else {
            return bytes.extracting(first: headSize).copied()
        }
        return UTF16Source.latin1Prefix(of: bytes, isBigEndian: isBigEndian, limit: headSize)
    }

    /// Skips white space and comments.
    private static func skipSpace(_ text: inout ArraySlice<UInt8>) {
        while true {
            text = text.drop { $0.isBlank }
            if text.starts(with: "//".utf8) {
                text = text.drop { $0 != UInt8(ascii: "\n") }
            } else if text.starts(with: "/*".utf8) {
                text = text.dropFirst(2)
                while !text.isEmpty, !text.starts(with: "*/".utf8) { text = text.dropFirst() }
                text = text.dropFirst(2)
            } else {
                return
            }
        }
    }

    /// Skips a key with or without quotation marks, and returns whether a key was found.
    private static func skipKey(_ text: inout ArraySlice<UInt8>) -> Bool {
        guard let quote = text.first else { return false }
        if quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") {
            text = text.dropFirst()
            while let byte = text.first, byte != quote {
                text = text.dropFirst(byte == UInt8(ascii: "\\") ? 2 : 1)
            }
            guard !text.isEmpty else { return false }
            text = text.dropFirst()
            return true
        }
        let rest = text.drop { isUnquotedCharacter($0) }
        defer { text = rest }
        return rest.count < text.count
    }

    private static func isUnquotedCharacter(_ byte: UInt8) -> Bool {
        byte.isLetter || byte.isDigit || "_$/:.-".utf8.contains(byte)
    }
}
