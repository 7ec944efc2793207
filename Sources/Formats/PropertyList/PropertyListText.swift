import JSONText

/// Methods that read and compare strings.
///
/// The methods also accept data as UTF-8, because keyed archives store some strings as data.
extension PropertyListDocument {
    /// Returns whether a value is the string `text`, given as UTF-8.
    @inline(__always)
    public func text(_ node: PropertyListNode, equals text: Span<UInt8>) -> Bool {
        switch marker(of: node) >> 4 {
        case 4, 5, 6: storedText(node).equals(utf8: text)
        default: false
        }
    }

    /// Returns whether a value is the string `text`, given as UTF-8.
    @inline(__always)
    public func text(_ node: PropertyListNode, equals text: [UInt8]) -> Bool {
        self.text(node, equals: text.span)
    }

    /// Returns whether two strings are equal, even if one is stored as ASCII and the other as UTF-16BE.
    public func text(_ node: PropertyListNode, equals other: PropertyListNode) -> Bool {
        if node.offset == other.offset { return true }
        return storedText(node).equals(storedText(other))
    }

    /// Returns a value as a string, with lone surrogates replaced by U+FFFD.
    ///
    /// The method allocates memory. Use ``appendUTF8(of:to:)`` or the `equals` methods in code that is executed often.
    public func string(of node: PropertyListNode) -> String {
        var utf8: [UInt8] = []
        appendUTF8(of: node, to: &utf8)
        return String(decoding: utf8, as: UTF8.self)
    }

    /// Returns the first Unicode scalars of a string, at most `count`, with lone surrogates replaced by U+FFFD.
    ///
    /// The time does not depend on the length of the string, which many values can share.
    public func excerpt(of node: PropertyListNode, scalarCount count: Int) -> String {
        // A scalar has at most four bytes in UTF-8 and in UTF-16.
        let start = payload(of: node).extracting(first: 4 * count)
        guard isUTF16(node) else { return String(String(readingUTF8: start).unicodeScalars.prefix(count)) }
        var (scalars, text) = (UTF16Scalars(start), String.UnicodeScalarView())
        while text.count < count, !scalars.isAtEnd { text.append(scalars.next() ?? "\u{FFFD}") }
        return String(text)
    }

    /// Appends a string as UTF-8, with lone surrogates replaced by U+FFFD.
    public func appendUTF8(of node: PropertyListNode, to output: inout [UInt8]) {
        let payload = payload(of: node)
        guard isUTF16(node) else {
            if kind(of: node) == .text || (try? UTF8Span(validating: payload)) != nil {
                return output.append(copying: payload)
            }
            return output.append(contentsOf: String(readingUTF8: payload).utf8)
        }
        output.append(addingCapacity: payload.count / 2 * 3) { output in
            var scalars = UTF16Scalars(payload)
            while !scalars.isAtEnd { output.append(utf8: scalars.next() ?? "\u{FFFD}") }
        }
    }

    /// Returns the UTF-8 of a string, or `nil` if the string is stored as ASCII.
    fileprivate func convertedText(_ node: PropertyListNode) -> [UInt8]? {
        guard kind(of: node) == .data || isUTF16(node) else { return nil }
        var utf8: [UInt8] = []
        appendUTF8(of: node, to: &utf8)
        return utf8
    }

    /// Returns a hash of a string that is the same for ASCII and UTF-16BE storage.
    func fingerprint(of node: PropertyListNode) -> UInt64 { storedText(node).fingerprint }

    @_lifetime(borrow self)
    private func storedText(_ node: PropertyListNode) -> StoredText {
        StoredText(at: node.offset, in: bytes.span)
    }
}

extension TextBuffer {
    /// Appends a string of a property list as a JSON string, with lone surrogates replaced by U+FFFD.
    public mutating func append(jsonText node: PropertyListNode, of document: borrowing PropertyListDocument) {
        if let utf8 = document.convertedText(node) { return append(jsonString: utf8.span) }
        append(jsonString: document.payload(of: node))
    }
}

extension [UInt8] {
    /// Appends a string of a property list as a JSON string, with lone surrogates replaced by U+FFFD.
    public mutating func append(jsonText node: PropertyListNode, of document: borrowing PropertyListDocument) {
        if let utf8 = document.convertedText(node) { return append(jsonString: utf8.span) }
        append(jsonString: document.payload(of: node))
    }
}

/// An iterator over the Unicode scalar values of UTF-16 text.
struct UTF16Scalars: ~Escapable {
    private let units: Span<UInt8>
    private let isBigEndian: Bool
    /// The offset of the next unit, in bytes.
    private(set) var index = 0

    var isAtEnd: Bool { index >= units.count }

    @_lifetime(copy units)
    init(_ units: Span<UInt8>, isBigEndian: Bool = true) {
        self.units = units
        self.isBigEndian = isBigEndian
    }

    /// Returns the next scalar value, or `nil` for a lone surrogate.
    @_lifetime(self: copy self)
    mutating func next() -> Unicode.Scalar? {
        let unit = self.unit(at: index)
        index += 2
        if unit & 0xFC00 == 0xD800, !isAtEnd {
            let low = self.unit(at: index)
            if low & 0xFC00 == 0xDC00 {
                index += 2
                return Unicode.Scalar(0x10000 + (unit & 0x3FF) << 10 + low & 0x3FF)
            }
        }
        return Unicode.Scalar(unit)
    }

    private func unit(at index: Int) -> UInt32 {
        let (first, second) = (UInt32(units[index]), UInt32(units[index + 1]))
        return isBigEndian ? first << 8 | second : second << 8 | first
    }
}

extension OutputSpan<UInt8> {
    /// Appends a scalar as UTF-8 to a span that has enough free capacity.
    fileprivate mutating func append(utf8 scalar: Unicode.Scalar) {
        if scalar.isASCII { return append(UInt8(truncatingIfNeeded: scalar.value)) }
        for byte in scalar.utf8 { append(byte) }
    }
}
