import Bytes
import JSONText

/// The format of a property list, detected from its first bytes.
///
/// Source: <doc:KeyedArchives>, A.1.
enum SourceFormat {
    case binary
    case xml
    /// XML in UTF-16 with a byte order mark.
    case xmlUTF16(isBigEndian: Bool)

    init(of bytes: Span<UInt8>) throws(PropertyListError) {
        guard !bytes.isEmpty else { throw PropertyListError(.empty, at: 0, "file without any bytes") }
        if bytes.begins(with: "bplist", at: 0) {
            guard bytes.begins(with: "bplist00", at: 0) else {
                guard bytes.count >= 8 else { throw PropertyListError(.truncated, at: bytes.count, "a cut header") }
                throw PropertyListError(.unsupportedVersion, at: 6, "a binary property list of an unknown version")
            }
            self = .binary
            return
        }
        if let isBigEndian = UTF16Source.isBigEndian(bytes) {
            guard Self.isXML(bytes, isBigEndian: isBigEndian) else { throw Self.notPropertyList(bytes) }
            self = .xmlUTF16(isBigEndian: isBigEndian)
            return
        }
        var index = bytes.count >= 3 && bytes[0] == 0xEF && bytes[1] == 0xBB && bytes[2] == 0xBF ? 3 : 0
        while index < bytes.count, bytes[index].isBlank { index += 1 }
        guard Self.xmlPrefixes.contains(where: { bytes.begins(with: $0, at: index) }) else {
            throw Self.notPropertyList(bytes)
        }
        self = .xml
    }

    /// The possible prefixes of XML: a declaration, a document type, a comment, or an element of a property list.
    private static let xmlPrefixes = ["<?xml", "<!DOCTYPE", "<!--"] + XMLTag.Name.allCases.map { "<\($0.rawValue)" }

    /// Returns whether UTF-16 text begins with one of `xmlPrefixes`, after any white space.
    private static func isXML(_ bytes: Span<UInt8>, isBigEndian: Bool) -> Bool {
        // No property list begins with more white space than this.
        let head = UTF16Source.latin1Prefix(of: bytes, isBigEndian: isBigEndian, limit: 2048)
        let text = head.drop { $0.isBlank }
        return xmlPrefixes.contains { text.starts(with: $0.utf8) }
    }

    private static func notPropertyList(_ bytes: Span<UInt8>) -> PropertyListError {
        guard OpenStepText.matches(bytes) else {
            return PropertyListError(.notPlist, at: 0, "neither a binary nor an XML property list")
        }
        let words = "text in the old style of OpenStep or a .strings file, which is not read"
        var error = PropertyListError(.notPlist, at: 0, words)
        error.isOpenStepText = true
        return error
    }
}

extension Span<UInt8> {
    /// Returns whether the bytes at `index` begin with `text`.
    func begins(with text: String, at index: Int) -> Bool {
        let length = text.utf8.count
        return count - index >= length && extracting(index..<index + length).equals(text)
    }
}

/// The text format in which NeXTSTEP wrote property lists and Xcode writes `.strings` files: `{ "key" = "value"; }`.
private enum OpenStepText {
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
        byte.isLetter || byte.isDigit || byte.isOne(of: "_$/:.-")
    }
}

/// An XML property list that was converted from UTF-16 to UTF-8, with a mapping from UTF-8 offsets to source offsets.
///
/// Source: <doc:KeyedArchives>, A.1.
struct UTF16Source {
    /// The text as UTF-8, without the byte order mark.
    private(set) var utf8: [UInt8] = []
    /// The source offset of the character that contains each 64th byte of `utf8`.
    private var checkpoints: [UInt32] = []

    private static let checkpointInterval = 64
    private static let byteOrderMarkLength = 2

    /// Returns whether the byte order mark of `source` is big-endian, or `nil` if there is no byte order mark.
    static func isBigEndian(_ source: Span<UInt8>) -> Bool? {
        guard source.count >= byteOrderMarkLength else { return nil }
        switch (source[0], source[1]) {
        case (0xFE, 0xFF): return true
        case (0xFF, 0xFE): return false
        default: return nil
        }
    }

    /// Converts a source that begins with a byte order mark.
    init(_ source: Span<UInt8>, isBigEndian: Bool) throws(PropertyListError) {
        guard source.count.isMultiple(of: 2) else { throw .syntax("half a character of UTF-16", at: source.count - 1) }
        utf8.reserveCapacity(source.count / 2)
        var scalars = UTF16Scalars(source, isBigEndian: isBigEndian)
        // Skip the byte order mark.
        _ = scalars.next()
        while !scalars.isAtEnd {
            let start = scalars.index
            guard let scalar = scalars.next() else { throw .syntax("half a character of UTF-16", at: start) }
            if scalar.isASCII { utf8.append(UInt8(truncatingIfNeeded: scalar.value)) } else { utf8 += scalar.utf8 }
            // Checkpoints are added after the character, so that checkpoint n is the character that contains byte 64n.
            while checkpoints.count * Self.checkpointInterval < utf8.count { checkpoints.append(UInt32(start)) }
        }
    }

    /// Returns the characters after the byte order mark in the first `limit` bytes of `source`, as Latin-1.
    ///
    /// Characters that Latin-1 does not contain become 0xFF.
    static func latin1Prefix(of source: Span<UInt8>, isBigEndian: Bool, limit: Int) -> [UInt8] {
        let high = isBigEndian ? 0 : 1
        return stride(from: byteOrderMarkLength, to: min(source.count, limit) - 1, by: 2).map { index in
            source[index + high] == 0 ? source[index + 1 - high] : 0xFF
        }
    }

    /// Returns an error with its offset in `source`.
    func locate(_ error: PropertyListError, in source: Span<UInt8>) -> PropertyListError {
        PropertyListError(error.code, at: offset(of: error.offset, in: source), error.reason)
    }

    /// Returns the offset in `source` of the character whose UTF-8 contains the byte at `index`.
    func offset(of index: Int, in source: Span<UInt8>) -> Int {
        guard index < utf8.count else { return source.count }
        var offset = Int(checkpoints[index / Self.checkpointInterval])
        var position = index / Self.checkpointInterval * Self.checkpointInterval
        // Move back to the first byte of the character at the checkpoint.
        while position > 0, utf8[position] & 0xC0 == 0x80 { position -= 1 }
        while position < index {
            var next = position + 1
            while next < utf8.count, utf8[next] & 0xC0 == 0x80 { next += 1 }
            if next > index { break }
            // A character of four bytes in UTF-8 consists of two units in UTF-16.
            offset += next - position == 4 ? 4 : 2
            position = next
        }
        return offset
    }
}
