import Bytes
import JSONText

/// A tag of an XML property list.
struct XMLTag {
    enum Name: String, CaseIterable {
        case plist, dict, array, key, string, integer, real, `true`, `false`, date, data
    }

    let name: Name
    /// The offset of the opening angle bracket.
    let offset: Int
    var isEnd = false
    /// Whether the tag is an empty-element tag, such as `<true/>`.
    var isEmpty = false
}

/// A reader of the tags and text of an XML property list in UTF-8.
///
/// The reader supports the subset of XML that property lists use. It accepts the five predefined entities and character
/// references, and rejects document types with an internal subset. Comments, processing instructions and attributes are
/// skipped.
///
/// Source: <doc:KeyedArchives>, A.6.
struct XMLReader: ~Escapable {
    /// The encoding of the source.
    ///
    /// If the XML declaration names an encoding, it must be compatible with the encoding of the source.
    enum Encoding: String {
        case utf8 = "UTF-8"
        /// UTF-16, which the caller converted to UTF-8 without changing the declared encoding.
        case utf16 = "UTF-16"

        /// The lowercase encoding names that are accepted in the XML declaration of a source in this encoding.
        fileprivate var declaredNames: [String] {
            switch self {
            case .utf8: ["utf-8", "ascii"]
            case .utf16: ["utf-16", "utf16", "ucs-2", "unicode", "utf-8"]
            }
        }
    }

    private let source: Span<UInt8>
    private let encoding: Encoding
    private let keepsInvalidValues: Bool
    /// The fault in ``text``, from which invalid parts were omitted, or `nil` if there is none.
    private(set) var textFault: PropertyListError?
    /// Whether the XML declaration states that the text is in ISO 8859-1.
    private var isLatin1 = false
    /// Whether the value is enclosed in a `plist` element.
    private var hasPropertyListTag = false
    private(set) var offset = 0
    /// The text that ``readText(of:)`` read last, as UTF-8.
    private(set) var text: [UInt8] = []

    @_lifetime(copy source)
    init(_ source: Span<UInt8>, _ encoding: Encoding, keepsInvalidValues: Bool) {
        self.keepsInvalidValues = keepsInvalidValues
        self.source = source
        self.encoding = encoding
    }

    // MARK: Prolog and epilog

    /// Reads everything before the value, including an optional `plist` start tag, and returns the first tag of the
    /// value.
    mutating func readProlog() throws(PropertyListError) -> XMLTag {
        if source.count >= 3, source[0] == 0xEF { offset = 3 }
        try checkEncoding()
        let tag = try nextTag()
        hasPropertyListTag = tag.name == .plist && !tag.isEnd
        guard hasPropertyListTag else { return tag }
        guard !tag.isEmpty else { throw .syntax("a plist element without a value", at: tag.offset) }
        return try nextTag()
    }

    /// Reads the end tag of `plist` if there was a start tag, and checks that no further element or text follows.
    mutating func readEpilog() throws(PropertyListError) {
        if hasPropertyListTag {
            let tag = try nextTag()
            guard tag.name == .plist, tag.isEnd else { throw .syntax("more than one value", at: tag.offset) }
        }
        try skipMiscellaneous()
        guard offset == source.count else { throw .syntax("something after the end of the property list", at: offset) }
    }

    /// Throws an error if the declared encoding does not match the encoding of the source.
    private mutating func checkEncoding() throws(PropertyListError) {
        var index = offset
        while index < source.count, source[index].isBlank { index += 1 }
        guard source.begins(with: "<?xml", at: index) else { return }
        let end = find("?>", from: index) ?? source.count
        let declaration = String(readingUTF8: source.extracting(index..<end)).lowercased()
        guard declaration.contains("encoding") else { return }
        if keepsInvalidValues, encoding == .utf8, Self.latin1Names.contains(where: { declaration.contains($0) }) {
            isLatin1 = true
            return
        }
        guard encoding.declaredNames.contains(where: { declaration.contains($0) }) else {
            throw .syntax("an encoding other than \(encoding.rawValue)", at: index)
        }
    }

    private static let latin1Names = ["iso-8859-1\"", "iso-8859-1'", "latin1", "latin-1"]

    /// Reads the next tag.
    ///
    /// White space, comments, processing instructions and document types before the tag are skipped.
    mutating func nextTag() throws(PropertyListError) -> XMLTag {
        try skipMiscellaneous()
        guard offset < source.count else { throw .syntax("the file ends too early", at: offset) }
        guard source[offset] == UInt8(ascii: "<") else { throw .syntax("text where an element has to be", at: offset) }
        return try readTag()
    }

    /// Skips white space, comments, processing instructions and document types.
    private mutating func skipMiscellaneous() throws(PropertyListError) {
        while offset < source.count {
            if source[offset].isBlank {
                offset += 1
            } else if source.begins(with: "<!--", at: offset) {
                try skip(past: "-->")
            } else if source.begins(with: "<?", at: offset) {
                try skip(past: "?>")
            } else if source.begins(with: "<!DOCTYPE", at: offset) {
                try skipDocumentType()
            } else if source.begins(with: "<!ENTITY", at: offset) {
                throw PropertyListError(.xmlEntity, at: offset, "a declared entity")
            } else {
                return
            }
        }
    }

    private mutating func skipDocumentType() throws(PropertyListError) {
        let start = offset
        var quote: UInt8?
        while offset < source.count {
            let byte = source[offset]
            if let open = quote {
                if byte == open { quote = nil }
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
            } else if byte == UInt8(ascii: ">") {
                offset += 1
                return
            } else if byte == UInt8(ascii: "[") {
                if find("<!ENTITY", from: offset) != nil {
                    throw PropertyListError(.xmlEntity, at: offset, "a declared entity")
                }
                throw .syntax("a document type with declarations of its own", at: offset)
            }
            offset += 1
        }
        throw .syntax("a document type without an end", at: start)
    }

    private mutating func skip(past end: String) throws(PropertyListError) {
        guard let found = find(end, from: offset) else { throw .syntax("the file ends before \(end)", at: offset) }
        offset = found + end.utf8.count
    }

    private func find(_ text: String, from start: Int) -> Int? {
        let bytes = Array(text.utf8)
        var index = start
        while index + bytes.count <= source.count {
            if source[index] == bytes[0], source.begins(with: text, at: index) { return index }
            index += 1
        }
        return nil
    }

    // MARK: Tags

    private mutating func readTag() throws(PropertyListError) -> XMLTag {
        let start = offset
        offset += 1
        let isEnd = offset < source.count && source[offset] == UInt8(ascii: "/")
        if isEnd { offset += 1 }
        let nameStart = offset
        while offset < source.count, source[offset].isLowercaseLetter { offset += 1 }
        guard let name = Self.name(source.extracting(nameStart..<offset)), offset < source.count,
            !source[offset].continuesName
        else { throw .syntax("an unknown element", at: start) }
        var tag = XMLTag(name: name, offset: start, isEnd: isEnd)
        var quote: UInt8?
        while offset < source.count {
            let byte = source[offset]
            offset += 1
            if let open = quote {
                if byte == open { quote = nil }
            } else if byte == UInt8(ascii: ">") {
                tag.isEmpty = source[offset - 2] == UInt8(ascii: "/")
                guard !(isEnd && tag.isEmpty) else { break }
                return tag
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
            } else if byte == UInt8(ascii: "<") {
                break
            }
        }
        throw .syntax("a malformed tag", at: start)
    }

    private static func name(_ bytes: Span<UInt8>) -> XMLTag.Name? {
        guard !bytes.isEmpty else { return nil }
        // The first letter and the length identify most elements, so that few names are compared in full.
        switch (bytes[0], bytes.count) {
        case (UInt8(ascii: "k"), 3): return bytes.equals("key") ? .key : nil
        case (UInt8(ascii: "s"), 6): return bytes.equals("string") ? .string : nil
        case (UInt8(ascii: "i"), 7): return bytes.equals("integer") ? .integer : nil
        case (UInt8(ascii: "r"), 4): return bytes.equals("real") ? .real : nil
        case (UInt8(ascii: "t"), 4): return bytes.equals("true") ? .true : nil
        case (UInt8(ascii: "f"), 5): return bytes.equals("false") ? .false : nil
        case (UInt8(ascii: "a"), 5): return bytes.equals("array") ? .array : nil
        case (UInt8(ascii: "p"), 5): return bytes.equals("plist") ? .plist : nil
        case (UInt8(ascii: "d"), 4):
            return bytes.equals("dict") ? .dict : bytes.equals("date") ? .date : bytes.equals("data") ? .data : nil
        default: return nil
        }
    }

    mutating func readEnd(of tag: XMLTag) throws(PropertyListError) {
        let end = try nextTag()
        guard end.isEnd, end.name == tag.name else { throw .syntax("an element inside of a scalar", at: end.offset) }
    }

    // MARK: Texts

    /// Reads a scalar and its end tag, stores its text in ``text``, and returns whether the text is ASCII.
    mutating func readText(of tag: XMLTag) throws(PropertyListError) -> Bool {
        text.removeAll(keepingCapacity: true)
        textFault = nil
        if tag.isEmpty { return true }
        var isASCII = true
        while offset < source.count {
            let byte = source[offset]
            switch byte {
            case UInt8(ascii: "<"):
                if source.begins(with: "<![CDATA[", at: offset) {
                    try readCharacterData()
                    isASCII = false
                } else if source.begins(with: "<!--", at: offset) {
                    try skip(past: "-->")
                } else {
                    try readEnd(of: tag)
                    if !isASCII, (try? UTF8Span(validating: text.span)) == nil {
                        try note(.syntax("malformed UTF-8", at: tag.offset))
                    }
                    return isASCII || text.allSatisfy { $0 < 0x80 }
                }
            case UInt8(ascii: "&"):
                do throws(PropertyListError) {
                    try readReference()
                } catch {
                    try note(error)
                    offset += 1
                }
                isASCII = false
            case 0x0D:
                // XML 1.0, section 2.11: all line endings are read as line feeds.
                text.append(0x0A)
                offset += offset + 1 < source.count && source[offset + 1] == 0x0A ? 2 : 1
            default:
                if byte >= 0x80 { isASCII = false }
                if isLatin1, byte >= 0x80 { text += Unicode.Scalar(byte).utf8 } else { text.append(byte) }
                offset += 1
            }
        }
        throw .syntax("an element without an end", at: tag.offset)
    }

    /// Stores a fault in a text, or throws it if invalid values are not kept.
    private mutating func note(_ fault: PropertyListError) throws(PropertyListError) {
        guard keepsInvalidValues else { throw fault }
        textFault = textFault ?? fault
    }

    /// Reads and returns the content of an element without nested elements and references, and reads its end tag.
    @_lifetime(copy self)
    mutating func readUnescapedContent(of tag: XMLTag) throws(PropertyListError) -> Span<UInt8> {
        if tag.isEmpty { return source.extracting(0..<0) }
        let start = offset
        while offset < source.count, source[offset] != UInt8(ascii: "<") { offset += 1 }
        let end = offset
        try readEnd(of: tag)
        return source.extracting(start..<end)
    }

    private mutating func readCharacterData() throws(PropertyListError) {
        let start = offset + 9
        try skip(past: "]]>")
        let content = source.extracting(start..<offset - 3)
        guard isLatin1 else { return text.append(copying: content) }
        for index in content.indices { text += Unicode.Scalar(content[index]).utf8 }
    }

    private mutating func readReference() throws(PropertyListError) {
        // The longest reference is &#x10FFFF; with some leading zeros.
        let limit = min(offset + 16, source.count)
        guard let end = (offset..<limit).first(where: { source[$0] == UInt8(ascii: ";") }),
            let scalar = XMLScalar.reference(String(readingUTF8: source.extracting(offset + 1..<end)))
        else { throw .syntax("a reference that is not predefined", at: offset) }
        text.append(contentsOf: scalar.utf8)
        offset = end + 1
    }
}

extension UInt8 {
    /// Whether the byte continues a tag name instead of ending it.
    fileprivate var continuesName: Bool {
        !(isBlank || self == UInt8(ascii: ">") || self == UInt8(ascii: "/"))
    }
}
