extension UInt8 {
    /// Whether the byte is an ASCII digit.
    public var isDigit: Bool { self &- UInt8(ascii: "0") < 10 }

    /// Whether the byte is an ASCII digit from 0 to 7.
    public var isOctalDigit: Bool { self &- UInt8(ascii: "0") < 8 }

    /// Whether the byte is an ASCII letter of either case.
    public var isLetter: Bool { (self | 0x20).isLowercaseLetter }

    /// Whether the byte is a lowercase ASCII letter.
    public var isLowercaseLetter: Bool { self &- UInt8(ascii: "a") < 26 }

    /// Whether the byte is an uppercase ASCII letter.
    public var isUppercaseLetter: Bool { self &- UInt8(ascii: "A") < 26 }

    /// Whether the byte is a space, a tab, a line feed or a carriage return.
    public var isBlank: Bool { self == 0x20 || self == 0x0D || self == 0x09 || self == 0x0A }

    /// Returns whether the byte is one of the ASCII characters of `characters`.
    public func isOne(of characters: String) -> Bool { characters.utf8.contains(self) }

    /// The lowercase form of an ASCII letter, or the unchanged byte.
    public var lowercased: UInt8 { isUppercaseLetter ? self | 0x20 : self }
    /// The uppercase form of an ASCII letter, or the unchanged byte.
    public var uppercased: UInt8 { isLowercaseLetter ? self & 0xDF : self }
}

extension Span<UInt8> {
    /// Returns whether every byte satisfies `predicate`.
    public func allSatisfy(_ predicate: (UInt8) -> Bool) -> Bool {
        for index in indices where !predicate(self[index]) { return false }
        return true
    }

    /// Returns whether the bytes equal those of `text`, regardless of the case of ASCII letters.
    public func equalsIgnoringCase(_ text: String) -> Bool {
        let other = text.utf8.span
        guard count == other.count else { return false }
        for index in indices where self[index].lowercased != other[index].lowercased { return false }
        return true
    }

    /// The bytes as a decimal number, or `nil` if one of them is not a digit.
    ///
    /// The span must have at most 18 bytes. An empty span represents 0.
    public var decimalNumber: Int? {
        var number = 0
        for index in indices {
            guard self[index].isDigit else { return nil }
            number = number * 10 + Int(self[index] & 0xF)
        }
        return number
    }
}

extension UInt8 {
    /// The value of an ASCII hexadecimal digit of either case, or `nil` for any other byte.
    public var hexadecimalValue: UInt8? {
        let decimal = self &- UInt8(ascii: "0")
        if decimal < 10 { return decimal }
        let letter = (self | 0x20) &- UInt8(ascii: "a")
        return letter < 6 ? letter &+ 10 : nil
    }

    /// The lowercase hexadecimal digit for a number below 16.
    public var lowerHexadecimalDigit: UInt8 {
        self &+ (self < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10)
    }

    /// The uppercase hexadecimal digit for a number below 16.
    public var upperHexadecimalDigit: UInt8 {
        self &+ (self < 10 ? UInt8(ascii: "0") : UInt8(ascii: "A") - 10)
    }
}

extension Sequence<UInt8> {
    /// The bytes as lowercase hexadecimal digits, two for each byte.
    public var hex: String {
        var text: [UInt8] = []
        text.reserveCapacity(2 * underestimatedCount)
        for byte in self {
            text.append((byte >> 4).lowerHexadecimalDigit)
            text.append((byte & 0xF).lowerHexadecimalDigit)
        }
        return String(decoding: text, as: UTF8.self)
    }
}

extension BidirectionalCollection<UInt8> {
    /// The bytes without those at both ends for which `isBlank` is `true`.
    public var withoutOuterBlanks: SubSequence {
        let rest = drop(while: \.isBlank)
        guard let last = rest.lastIndex(where: { !$0.isBlank }) else { return rest }
        return rest[...last]
    }
}
