import Bytes

/// Reads JSON tokens (RFC 8259) other than strings.
extension Span<UInt8> {
    /// Returns the index of the first byte at or after `start` that is not white space.
    @inline(__always)
    func endOfWhitespace(from start: UInt32) -> UInt32 {
        guard self[Int(start)].isJSONSpace else { return start }
        var index = start &+ 1
        // Skip the indentation of a line in steps of eight bytes.
        while let word = wordIfPresent(at: Int(index)) {
            let others = word ^ 0x2020_2020_2020_2020
            index &+= UInt32(truncatingIfNeeded: others.trailingZeroBitCount >> 3)
            if others == 0 { continue }
            guard self[Int(index)].isJSONSpace else { return index }
            index &+= 1
        }
        while index < count, self[Int(index)].isJSONSpace { index &+= 1 }
        return index
    }

    /// Returns the end of the number that begins at `start` with a digit or a minus sign.
    @inline(__always)
    func endOfNumber(at start: UInt32) throws(JSONError) -> UInt32 {
        var index = start
        if self[Int(start)] != UInt8(ascii: "0") {
            while index < count, self[Int(index)].isDigit { index &+= 1 }
            if index > start, index < count, self[Int(index)] != UInt8(ascii: "."),
                self[Int(index)] | 0x20 != UInt8(ascii: "e")
            {
                return index
            }
        }
        return UInt32(try endOfAnyNumber(at: Int(start)))
    }

    /// Returns the end of a number that can have a sign, a fraction and an exponent.
    @inline(never)
    private func endOfAnyNumber(at start: Int) throws(JSONError) -> Int {
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
    @inline(never)
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
