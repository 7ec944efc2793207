extension UInt8 {
    /// The value of an ASCII hexadecimal digit of either case; nil for any other byte.
    @inlinable public var hexadecimalValue: UInt8? {
        let decimal = self &- UInt8(ascii: "0")
        if decimal < 10 { return decimal }
        let letter = (self | 0x20) &- UInt8(ascii: "a")
        return letter < 6 ? letter &+ 10 : nil
    }

    /// The ASCII digit, in lower case, of a number below 16.
    @inlinable public var lowerHexadecimalDigit: UInt8 {
        self &+ (self < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10)
    }

    /// The ASCII digit, in upper case, of a number below 16.
    @inlinable public var upperHexadecimalDigit: UInt8 {
        self &+ (self < 10 ? UInt8(ascii: "0") : UInt8(ascii: "A") - 10)
    }
}

extension Sequence<UInt8> {
    /// The bytes in lower-case hexadecimal.
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
