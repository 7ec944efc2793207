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
