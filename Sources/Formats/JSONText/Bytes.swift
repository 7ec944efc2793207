import Bytes

extension Span<UInt8> {
    /// Less than, equal to or greater than 0, as these bytes sort before, with or after the others.
    public func ordered(against other: Span<UInt8>) -> Int {
        let shared = Swift.min(count, other.count)
        var index = 0
        while shared &- index >= 8 {
            let (mine, others) = (word(at: index), other.word(at: index))
            if mine != others { return mine.byteSwapped < others.byteSwapped ? -1 : 1 }
            index &+= 8
        }
        while index < shared {
            let mine = self[index]
            let others = other[index]
            if mine != others { return Int(mine) - Int(others) }
            index += 1
        }
        return count - other.count
    }

    /// Less than, equal to or greater than 0, as these bytes sort before, with or after a key.
    public func ordered(against key: borrowing JSONKey) -> Int {
        KeyStart(self).ordered(against: key.start) ?? ordered(against: key.utf8.span)
    }

    /// Whether the bytes are the UTF-8 of a text.
    public func equals(_ text: String) -> Bool {
        equals(text.utf8.span)
    }

    /// The first eight bytes as a big-endian number, missing ones as zero: sorts like the bytes do.
    public var prefixAsNumber: UInt64 {
        if count >= 8 { return word(at: 0).byteSwapped }
        var number: UInt64 = 0
        for index in 0..<count {
            number |= UInt64(self[index]) << UInt64(56 - 8 * index)
        }
        return number
    }

    /// The ``prefixAsNumber`` of a range, by a single load where there are enough bytes behind it.
    @inline(__always)
    func prefixAsNumber(of range: Range<Int>) -> UInt64 {
        guard holdsWord(at: range.lowerBound) else { return extracting(range).prefixAsNumber }
        let length = UInt64(truncatingIfNeeded: range.count)
        let word = word(at: range.lowerBound).byteSwapped
        return length >= 8 ? word : word & ~(UInt64.max >> (8 &* length))
    }

    /// Whether the bytes are ASCII of which a JSON string escapes nothing; a quick look, for most texts are.
    var needsNoEscape: Bool {
        guard count >= 8 else {
            for index in indices where UInt64(self[index]).textStops & 0x80 != 0 { return false }
            return true
        }
        // The last eight bytes may in part be looked at twice.
        let last = count - 8
        var index = 0
        while index < last {
            if word(at: index).textStops != 0 { return false }
            index &+= 8
        }
        return word(at: last).textStops == 0
    }

    /// The next quotation mark or backslash from an index on, or the end.
    func endOfStringRun(from start: Int) -> Int {
        var index = start
        while count &- index >= 8 {
            let stops = word(at: index).stringStops
            index &+= stops.trailingZeroBitCount >> 3
            if stops != 0 { return index }
        }
        while index < count, self[index] != UInt8(ascii: "\""), self[index] != UInt8(ascii: "\\") { index += 1 }
        return index
    }

}

extension String {
    /// The text of UTF-8 bytes; what is malformed becomes U+FFFD.
    public init(readingUTF8 bytes: Span<UInt8>) {
        if let valid = try? UTF8Span(validating: bytes) {
            self.init(copying: valid)
        } else {
            self.init(decoding: bytes.copied(), as: UTF8.self)
        }
    }
}

/// Eight bytes looked at together; the first one is the lowest.
///
/// A subtraction borrows only from a byte that is found itself, so that no byte before the first is hit.
extension UInt64 {
    /// The high bit of the first byte that does not stand for itself in a JSON string (a quotation mark, a backslash, a
    /// control character) or begins a longer UTF-8 sequence; also of some bytes after it. 0 if there is none.
    var textStops: UInt64 {
        (quotesAndBackslashes | (self &- 0x2020_2020_2020_2020) & ~self | self) & 0x8080_8080_8080_8080
    }

    /// The high bit of the first byte that is a quotation mark or a backslash; also of some bytes after it. 0 if there is
    /// none.
    var stringStops: UInt64 { quotesAndBackslashes & 0x8080_8080_8080_8080 }

    /// The same, among other bits.
    @inline(__always)
    private var quotesAndBackslashes: UInt64 {
        let quotes = self ^ 0x2222_2222_2222_2222
        let backslashes = self ^ 0x5C5C_5C5C_5C5C_5C5C
        return (quotes &- 0x0101_0101_0101_0101) & ~quotes | (backslashes &- 0x0101_0101_0101_0101) & ~backslashes
    }
}
