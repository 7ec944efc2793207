import Bytes

extension Span<UInt8> {
    /// Returns a negative number, 0 or a positive number if the bytes sort before, equal, or sort after `other`.
    public func ordered(against other: Span<UInt8>) -> Int {
        let shared = Swift.min(count, other.count)
        var index = 0
        while let mine = wordIfPresent(at: index), let others = other.wordIfPresent(at: index) {
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

    /// Returns a negative number, 0 or a positive number if the bytes sort before, equal, or sort after `key`.
    public func ordered(against key: borrowing JSONKey) -> Int {
        KeyPrefix(self).ordered(against: key.start) ?? ordered(against: key.utf8.span)
    }

    /// Returns whether the bytes are the UTF-8 of `text`.
    public func equals(_ text: String) -> Bool {
        equals(text.utf8.span)
    }

    /// The first eight bytes as a big-endian number, with zeros in place of missing bytes.
    public var prefixAsNumber: UInt64 {
        if let word = wordIfPresent(at: 0) { return word.byteSwapped }
        var number: UInt64 = 0
        for index in 0..<count {
            number |= UInt64(self[index]) << UInt64(56 - 8 * index)
        }
        return number
    }

    /// Returns the ``prefixAsNumber`` of the bytes in `range`, read with a single load if possible.
    func prefixAsNumber(of range: Range<Int>) -> UInt64 {
        guard let word = wordIfPresent(at: range.lowerBound) else { return extracting(range).prefixAsNumber }
        let length = UInt64(truncatingIfNeeded: range.count)
        return length >= 8 ? word.byteSwapped : word.byteSwapped & ~(UInt64.max >> (8 &* length))
    }

    /// Whether the bytes are ASCII that a JSON string can contain without escapes.
    var needsNoEscape: Bool {
        guard count >= 8 else {
            for index in indices where UInt64(self[index]).specialByteMask & 0x80 != 0 { return false }
            return true
        }
        // The last word may overlap the word before it.
        let last = count - 8
        var index = 0
        while index < last {
            if word(at: index).specialByteMask != 0 { return false }
            index &+= 8
        }
        return word(at: last).specialByteMask == 0
    }

    /// Returns the index of the first quotation mark or backslash at or after `start`, or `count` if there is none.
    func indexOfQuoteOrBackslash(from start: Int) -> Int {
        var index = start
        while let word = wordIfPresent(at: index) {
            let stops = word.quoteAndBackslashMask
            index &+= stops.trailingZeroBitCount >> 3
            if stops != 0 { return index }
        }
        while index < count, self[index] != UInt8(ascii: "\""), self[index] != UInt8(ascii: "\\") { index += 1 }
        return index
    }
}

extension String {
    /// Creates a string from UTF-8, with malformed sequences replaced by U+FFFD.
    public init(readingUTF8 bytes: Span<UInt8>) {
        if let valid = try? UTF8Span(validating: bytes) {
            self.init(copying: valid)
        } else {
            self.init(decoding: bytes.copied(), as: UTF8.self)
        }
    }

    /// Creates a string from the first Unicode scalars of UTF-8, at most `count`.
    ///
    /// The rest is not read. A scalar has at most four bytes.
    public init(readingUTF8 bytes: Span<UInt8>, scalarCount count: Int) {
        self.init(String(readingUTF8: bytes.extracting(first: 4 * count)).unicodeScalars.prefix(count))
    }
}

/// Properties that search eight bytes, packed into a word with the first byte in the lowest bits.
///
/// Each property subtracts from all bytes at once. Only a byte that matches borrows from the next byte, so no byte
/// before the first match is affected.
extension UInt64 {
    /// A mask whose lowest set bit is the high bit of the first byte that is special in a JSON string.
    ///
    /// Special bytes are quotation marks, backslashes, control characters and bytes above 0x7F. If there are none, the
    /// mask is 0. The bits of the bytes after the first special byte are unspecified.
    var specialByteMask: UInt64 {
        let quotes = self ^ 0x2222_2222_2222_2222
        let backslashes = self ^ 0x5C5C_5C5C_5C5C_5C5C
        // Bytes above 0x7F are special themselves, so that the high bits of other bytes are known to be clear.
        let found = (quotes &- 0x0101_0101_0101_0101) | (backslashes &- 0x0101_0101_0101_0101)
        return (found | (self &- 0x2020_2020_2020_2020) | self) & 0x8080_8080_8080_8080
    }

    /// A mask like ``specialByteMask``, but only for quotation marks and backslashes.
    var quoteAndBackslashMask: UInt64 {
        let quotes = self ^ 0x2222_2222_2222_2222
        let backslashes = self ^ 0x5C5C_5C5C_5C5C_5C5C
        let found = (quotes &- 0x0101_0101_0101_0101) & ~quotes | (backslashes &- 0x0101_0101_0101_0101) & ~backslashes
        return found & 0x8080_8080_8080_8080
    }
}
