import Bytes

/// Reads JSON tokens (RFC 8259) other than strings.
extension Span<UInt8> {
    /// Returns the index of the first byte at or after `start` that is not white space.
    func endOfWhitespace(from start: UInt32) -> UInt32 {
        var index = start
        while index < count, self[Int(index)].isJSONSpace { index &+= 1 }
        return index
    }

    /// Returns the end of the number that begins at `start` with a digit or a minus sign.
    func endOfNumber(at start: Int) throws(JSONError) -> Int {
        var index = start
        if self[index] == UInt8(ascii: "-") { index += 1 }
        guard index < count else { throw JSONError(.unexpectedEnd, at: count) }
        if self[index] == UInt8(ascii: "0") {
            index += 1
        } else {
            index = try endOfDigits(at: index)
        }
        if index < count, self[index] == UInt8(ascii: ".") { index = try endOfDigits(at: index + 1) }
        if index < count, self[index] | 0x20 == UInt8(ascii: "e") {
            index += 1
            let hasSign = index < count && (self[index] == UInt8(ascii: "+") || self[index] == UInt8(ascii: "-"))
            index = try endOfDigits(at: hasSign ? index + 1 : index)
        }
        if index < count, self[index].isDigit { throw JSONError(.invalidNumber, at: index) }
        return index
    }

    /// Returns the end of a sequence of at least one digit.
    private func endOfDigits(at start: Int) throws(JSONError) -> Int {
        guard start < count else { throw JSONError(.unexpectedEnd, at: count) }
        guard self[start].isDigit else { throw JSONError(.invalidNumber, at: start) }
        var index = start + 1
        while index < count, self[index].isDigit { index += 1 }
        return index
    }

    /// Returns the kind and the end of the literal `true`, `false` or `null` at `start`.
    func literal(at start: Int) throws(JSONError) -> (JSONKind, end: Int) {
        switch self[start] {
        case UInt8(ascii: "t"): (.true, try end(of: "true".utf8.span, at: start))
        case UInt8(ascii: "f"): (.false, try end(of: "false".utf8.span, at: start))
        case UInt8(ascii: "n"): (.null, try end(of: "null".utf8.span, at: start))
        default: throw JSONError(.unexpectedByte, at: start)
        }
    }

    private func end(of word: Span<UInt8>, at start: Int) throws(JSONError) -> Int {
        for index in word.indices {
            guard start + index < count else { throw JSONError(.unexpectedEnd, at: count) }
            guard self[start + index] == word[index] else { throw JSONError(.unexpectedByte, at: start + index) }
        }
        return start + word.count
    }
}

extension UInt8 {
    var isJSONSpace: Bool { self == 0x20 || self == 0x0A || self == 0x0D || self == 0x09 }

    /// Whether the byte ends a number or a literal.
    var isDelimiter: Bool {
        isJSONSpace || self == UInt8(ascii: ",") || self == UInt8(ascii: "]") || self == UInt8(ascii: "}")
    }

    /// Whether the byte can occur in a number or a literal.
    var isScalarByte: Bool {
        isDigit || isLowercaseLetter || self == UInt8(ascii: "-")
            || self == UInt8(ascii: "+") || self == UInt8(ascii: ".") || self == UInt8(ascii: "E")
    }
}

/// A reader for strings that contain escapes or non-ASCII characters.
struct JSONStringReader: ~Escapable {
    private let source: Span<UInt8>
    private let policy: JSONReadingPolicy
    private(set) var position: Int

    /// Creates a reader for the string whose first byte after the quotation mark is at `position`.
    @_lifetime(copy source)
    init(_ source: Span<UInt8>, from position: Int, policy: JSONReadingPolicy) {
        self.source = source
        self.policy = policy
        self.position = position
    }

    /// Reads a string that is plain text up to `end`, and returns a node whose `next` has the given value.
    mutating func read(from end: Int, next: Int, into resolved: inout TextBuffer) throws(JSONError) -> JSONDocument.Node
    {
        let start = position
        position = end
        try skipPlainText()
        if try nextByte() == UInt8(ascii: "\"") {
            position += 1
            return JSONDocument.Node(
                kind: .string, start: UInt32(start), end: UInt32(position - 1), next: UInt32(next))
        }
        let resolvedStart = resolved.count
        resolved.append(copying: source.extracting(start..<position))
        while source[position] == UInt8(ascii: "\\") {
            try readEscape(into: &resolved)
            let runStart = position
            try skipPlainText()
            _ = try nextByte()
            resolved.append(copying: source.extracting(runStart..<position))
        }
        position += 1
        return JSONDocument.Node(
            kind: .string, isResolved: true, start: UInt32(resolvedStart), end: UInt32(resolved.count),
            next: UInt32(next), extra: UInt32(start))
    }

    private func nextByte() throws(JSONError) -> UInt8 {
        guard position < source.count else { throw JSONError(.unexpectedEnd, at: source.count) }
        return source[position]
    }

    /// Moves to the next quotation mark or backslash, or to the end of the source.
    private mutating func skipPlainText() throws(JSONError) {
        while let word = source.wordIfPresent(at: position) {
            let stops = word.specialByteMask
            position &+= stops.trailingZeroBitCount >> 3
            if stops == 0 { continue }
            let byte = source[position]
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { return }
            try skipScalar()
        }
        while position < source.count {
            let byte = source[position]
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { return }
            try skipScalar()
        }
    }

    /// Skips a character that a string can contain unescaped.
    private mutating func skipScalar() throws(JSONError) {
        let byte = source[position]
        guard byte >= 0x20 else { throw JSONError(.controlCharacter, at: position) }
        guard byte >= 0x80 else { return position += 1 }
        guard let length = source.lengthOfScalar(at: position) else {
            throw JSONError(.invalidUTF8, at: position)
        }
        position += length
    }

    private mutating func readEscape(into text: inout TextBuffer) throws(JSONError) {
        position += 1
        switch try nextByte() {
        case UInt8(ascii: "\""): text.append(UInt8(ascii: "\""))
        case UInt8(ascii: "\\"): text.append(UInt8(ascii: "\\"))
        case UInt8(ascii: "/"): text.append(UInt8(ascii: "/"))
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"):
            try readScalarEscape(into: &text)
            return
        default:
            throw JSONError(.invalidEscape, at: position)
        }
        position += 1
    }

    /// Reads `uXXXX` and, if that is a high surrogate, the escaped low surrogate after it.
    private mutating func readScalarEscape(into text: inout TextBuffer) throws(JSONError) {
        let start = position - 1
        let unit = try readHexUnit()
        guard unit & 0xF800 == 0xD800 else { return text.append(scalar: unit) }
        if unit < 0xDC00, let low = try readLowSurrogate() {
            return text.append(scalar: 0x10000 + (unit & 0x3FF) << 10 + low & 0x3FF)
        }
        guard policy.unpairedSurrogates == .keep else { throw JSONError(.unpairedSurrogate, at: start) }
        text.append(scalar: unit)
    }

    /// Reads the escaped low surrogate at the position, or returns `nil` without moving if there is none.
    private mutating func readLowSurrogate() throws(JSONError) -> UInt32? {
        let start = position
        guard position + 1 < source.count, source[position] == UInt8(ascii: "\\"),
            source[position + 1] == UInt8(ascii: "u")
        else { return nil }
        position += 1
        let unit = try readHexUnit()
        if unit & 0xFC00 == 0xDC00 { return unit }
        position = start
        return nil
    }

    /// Reads the `u` at the position and four hexadecimal digits.
    private mutating func readHexUnit() throws(JSONError) -> UInt32 {
        position += 1
        var unit: UInt32 = 0
        for _ in 0..<4 {
            guard let digit = try nextByte().hexadecimalValue else {
                throw JSONError(.invalidEscape, at: position)
            }
            unit = unit << 4 | UInt32(digit)
            position += 1
        }
        return unit
    }
}

extension Span<UInt8> {
    /// Returns the index of the first byte at or after `start` that is not plain text.
    ///
    /// If fewer than eight bytes remain to be searched, returns the index of the first unsearched byte.
    func endOfPlainText(from start: UInt32) -> UInt32 {
        var index = start
        while let word = wordIfPresent(at: Int(index)) {
            let stops = word.specialByteMask
            index &+= UInt32(truncatingIfNeeded: stops.trailingZeroBitCount >> 3)
            if stops != 0 { return index }
        }
        return index
    }

    /// Returns the length of the non-ASCII UTF-8 sequence at `index`, or `nil` if it is malformed.
    ///
    /// Source of the ranges: the Unicode Standard, table 3-7.
    func lengthOfScalar(at index: Int) -> Int? {
        let first = self[index]
        let length: Int
        var second: ClosedRange<UInt8> = 0x80...0xBF
        switch first {
        case 0xC2...0xDF: length = 2
        case 0xE0: (length, second) = (3, 0xA0...0xBF)
        case 0xED: (length, second) = (3, 0x80...0x9F)
        case 0xE1...0xEF: length = 3
        case 0xF0: (length, second) = (4, 0x90...0xBF)
        case 0xF1...0xF3: length = 4
        case 0xF4: (length, second) = (4, 0x80...0x8F)
        default: return nil
        }
        guard index + length <= count, second.contains(self[index + 1]) else { return nil }
        for next in (index + 2)..<Swift.max(index + length, index + 2) where self[next] & 0xC0 != 0x80 {
            return nil
        }
        return length
    }
}

extension TextBuffer {
    /// Appends a scalar value as UTF-8, or a surrogate as WTF-8.
    mutating func append(scalar: UInt32) {
        func tail(_ shift: UInt32) -> UInt8 { 0x80 | UInt8(scalar >> shift & 0x3F) }
        switch scalar {
        case ..<0x80:
            append(UInt8(scalar))
        case ..<0x800:
            append(0xC0 | UInt8(scalar >> 6))
            append(tail(0))
        case ..<0x10000:
            append(0xE0 | UInt8(scalar >> 12))
            append(tail(6))
            append(tail(0))
        default:
            append(0xF0 | UInt8(scalar >> 18))
            append(tail(12))
            append(tail(6))
            append(tail(0))
        }
    }
}
