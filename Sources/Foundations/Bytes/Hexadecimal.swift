extension UInt8 {
    /// The value of an ASCII hexadecimal digit of either case, or `nil` for any other byte.
    @inlinable public var hexadecimalValue: UInt8? {
        let decimal = self &- UInt8(ascii: "0")
        if decimal < 10 { return decimal }
        let letter = (self | 0x20) &- UInt8(ascii: "a")
        return letter < 6 ? letter &+ 10 : nil
    }

    /// The lowercase hexadecimal digit for a number below 16.
    @inlinable public var lowerHexadecimalDigit: UInt8 {
        self &+ (self < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10)
    }

    /// The uppercase hexadecimal digit for a number below 16.
    @inlinable public var upperHexadecimalDigit: UInt8 {
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
