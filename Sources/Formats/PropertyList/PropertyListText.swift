import JSONText

/// Methods that read and compare strings.
///
/// The methods also accept data as UTF-8, because keyed archives store some strings as data.
extension PropertyListDocument {
    /// Returns whether a value is the string `text`, given as UTF-8.
    public func text(_ node: PropertyListNode, equals text: Span<UInt8>) -> Bool {
        switch marker(of: node) >> 4 {
        case 4, 5, 6: storedText(node).equals(utf8: text)
        default: false
        }
    }

    /// Returns whether a value is the string `text`, given as UTF-8.
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
        guard isUTF16(node) else { return String(readingUTF8: payload(of: node), scalarCount: count) }
        // A scalar has at most four bytes in UTF-16.
        let start = payload(of: node).extracting(first: 4 * count)
        var (scalars, text) = (UTF16Scalars(start), String.UnicodeScalarView())
        while text.count < count, !scalars.isAtEnd { text.append(scalars.next() ?? "\u{FFFD}") }
        return String(text)
    }

    /// Returns whether a string contains a lone surrogate, which the other methods replace by U+FFFD.
    public func hasLoneSurrogate(_ node: PropertyListNode) -> Bool {
        guard isUTF16(node) else { return false }
        var scalars = UTF16Scalars(payload(of: node))
        while !scalars.isAtEnd {
            if scalars.next() == nil { return true }
        }
        return false
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

/// A string as the binary form stores it: ASCII bytes or UTF-16BE units.
///
/// Source: <doc:KeyedArchives>, A.4.
struct StoredText: ~Escapable {
    let bytes: Span<UInt8>
    let isUTF16: Bool

    /// Reads the string of the checked object at `offset`.
    @_lifetime(copy bytes)
    init(at offset: UInt32, in bytes: Span<UInt8>) {
        isUTF16 = bytes[Int(offset)] >> 4 == 6
        let extent = BinaryLayout.extent(at: offset, in: bytes)
        self.bytes = bytes.extracting(extent.start..<extent.start + (isUTF16 ? 2 * extent.count : extent.count))
    }

    /// The number of units, which are bytes if the string is ASCII.
    var count: Int { isUTF16 ? bytes.count / 2 : bytes.count }

    func unit(at position: Int) -> UInt16 {
        isUTF16 ? UInt16(bytes[2 * position]) << 8 | UInt16(bytes[2 * position + 1]) : UInt16(bytes[position])
    }

    /// Returns whether the strings are equal, regardless of how they are stored.
    func equals(_ other: borrowing StoredText) -> Bool {
        if isUTF16 == other.isUTF16 { return bytes.equals(other.bytes) }
        guard count == other.count else { return false }
        for position in 0..<count where unit(at: position) != other.unit(at: position) { return false }
        return true
    }

    /// Whether the string is `CF$UID`, the key that marks a UID in XML.
    var isUID: Bool { !isUTF16 && bytes.equals("CF$UID") }

    /// Returns whether the string equals `text`, given as UTF-8.
    func equals(utf8 text: Span<UInt8>) -> Bool {
        guard isUTF16 else { return bytes.equals(text) }
        // A unit takes one to three bytes in UTF-8.
        guard count <= text.count, text.count <= 3 * count else { return false }
        var scalars = UTF16Scalars(bytes)
        var index = 0
        while !scalars.isAtEnd {
            for byte in (scalars.next() ?? "\u{FFFD}").utf8 {
                guard index < text.count, text[index] == byte else { return false }
                index += 1
            }
        }
        return index == text.count
    }

    /// A hash of all units that does not depend on how the string is stored.
    var fingerprint: UInt64 {
        let count = count
        var hash = UInt64(count) &* 0x9E37_79B9_7F4A_7C15
        var start = 0
        while start < count {
            let end = min(start + 8, count)
            Self.mix(&hash, packedBytes(from: start, to: end, shift: 0))
            if isUTF16 {
                let high = packedBytes(from: start, to: end, shift: 8)
                if high != 0 { Self.mix(&hash, high) }
            }
            start = end
        }
        return hash
    }

    private static func mix(_ hash: inout UInt64, _ word: UInt64) {
        hash = (hash ^ word) &* 0xC2B2_AE3D_27D4_EB4F
        hash ^= hash >> 29
    }

    /// Returns a word of the low bytes of up to eight units, or of the high bytes if `shift` is 8.
    private func packedBytes(from start: Int, to end: Int, shift: UInt16) -> UInt64 {
        if !isUTF16, end - start == 8 { return bytes.word(at: start) }
        var word: UInt64 = 0
        for position in start..<end {
            word |= UInt64(unit(at: position) >> shift & 0xFF) << UInt64(8 * (position - start))
        }
        return word
    }
}

/// Methods that sort the members of dictionaries by the UTF-8 bytes of their keys.
extension PropertyListDocument {
    /// Returns the positions of a dictionary's members in canonical order.
    ///
    /// If several keys are equal, only the position of the last equal key is included.
    func canonicalOrder(of members: PropertyListMembers) -> [Int] {
        let sorted = sortedByUTF8((0..<members.count).map { ($0, key(at: $0, of: members)) })
        return sorted.indices.compactMap { index in
            // Keys that differ only in lone surrogates are equal, because U+FFFD replaces these surrogates.
            let isRepeated = index + 1 < sorted.count && sorted[index + 1].utf8 == sorted[index].utf8
            return isRepeated ? nil : sorted[index].position
        }
    }

    /// Returns the UTF-8 bytes of the keys with their positions, sorted in canonical order.
    ///
    /// Equal keys are sorted by position.
    func sortedByUTF8(
        _ keys: [(position: Int, key: PropertyListNode)]
    ) -> [(position: Int, utf8: [UInt8])] {
        let texts = keys.map { entry in
            var utf8: [UInt8] = []
            appendUTF8(of: entry.key, to: &utf8)
            return (position: entry.position, utf8: utf8)
        }
        return texts.sorted { left, right in
            let order = left.utf8.span.ordered(against: right.utf8.span)
            return order == 0 ? left.position < right.position : order < 0
        }
    }
}
