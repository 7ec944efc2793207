import Bytes
import JSONText

/// The format of bytes, as their beginning tells it.
///
/// Source: <doc:KeyedArchives>, A.1.
enum SourceFormat {
    case binary
    case xml
    /// XML in UTF-16.
    case xml16(isBigEndian: Bool)

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
            self = .xml16(isBigEndian: isBigEndian)
            return
        }
        var index = bytes.count >= 3 && bytes[0] == 0xEF && bytes[1] == 0xBB && bytes[2] == 0xBF ? 3 : 0
        while index < bytes.count, bytes[index].isBlank { index += 1 }
        guard Self.starts.contains(where: { bytes.begins(with: $0, at: index) }) else {
            throw Self.notPropertyList(bytes)
        }
        self = .xml
    }

    /// The beginnings of XML: a declaration, a document type, a comment, or an element of a property list.
    private static let starts = ["<?xml", "<!DOCTYPE", "<!--"] + XMLTag.Name.allCases.map { "<\($0.rawValue)" }

    /// Whether a text in UTF-16 begins as XML does.
    private static func isXML(_ bytes: Span<UInt8>, isBigEndian: Bool) -> Bool {
        // More white space than this stands in front of no property list.
        let head = UTF16Source.head(of: bytes, isBigEndian: isBigEndian, limit: 2048)
        let text = head.drop { $0.isBlank }
        return starts.contains { text.starts(with: $0.utf8) }
    }

    private static func notPropertyList(_ bytes: Span<UInt8>) -> PropertyListError {
        guard OldText.looksLike(bytes) else {
            return PropertyListError(.notPlist, at: 0, "neither a binary nor an XML property list")
        }
        let words = "text in the old style of OpenStep or a .strings file, which is not read"
        var error = PropertyListError(.notPlist, at: 0, words)
        error.isOldText = true
        return error
    }
}

extension Span<UInt8> {
    /// Whether a text stands at an index.
    func begins(with text: String, at index: Int) -> Bool {
        let length = text.utf8.count
        return count - index >= length && extracting(index..<index + length).equals(text)
    }
}
