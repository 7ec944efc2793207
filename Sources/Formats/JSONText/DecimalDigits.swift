/// The ASCII digits of a number with at most 17 digits, padded with trailing zeros.
struct DecimalDigits {
    /// Three words of eight, eight and one digits, each with its first digit in the lowest byte.
    let words: (UInt64, UInt64, UInt64)
    let count: Int

    init(_ number: UInt64) {
        count = number.decimalDigitCount
        let aligned = number &* UInt64.powersOfTen[17 - count]
        let (front, last) = aligned.quotientAndRemainder(dividingBy: 10)
        let (high, low) = front.quotientAndRemainder(dividingBy: 100_000_000)
        words = (high.eightDigits, low.eightDigits, UInt64(UInt8(ascii: "0")) + last)
    }
}

extension UInt64 {
    /// The powers 10⁰ to 10¹⁹, as literals so that they are not computed at run time.
    static let powersOfTen: [UInt64] = [
        1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000, 10_000_000_000,
        100_000_000_000, 1_000_000_000_000, 10_000_000_000_000, 100_000_000_000_000, 1_000_000_000_000_000,
        10_000_000_000_000_000, 100_000_000_000_000_000, 1_000_000_000_000_000_000, 10_000_000_000_000_000_000,
    ]

    /// The number of decimal digits of a number below 10¹⁹.
    fileprivate var decimalDigitCount: Int {
        // Estimate the count from the binary logarithm. The estimate is too small by at most one.
        let guess = ((63 - (self | 1).leadingZeroBitCount) * 1233) >> 12
        return self < Self.powersOfTen[guess + 1] ? guess + 1 : guess + 2
    }

    /// The eight ASCII digits of a number below 10⁸, with the first digit in the lowest byte.
    fileprivate var eightDigits: UInt64 {
        // In parallel, split the number into two numbers of four digits, then four of two digits, then eight digits.
        let fours = self / 10_000 | (self % 10_000) << 32
        let hundreds = (fours &* 10_486) >> 20 & 0x7F_0000_007F
        let twos = hundreds | (fours &- 100 &* hundreds) << 16
        let tens = (twos &* 103) >> 10 & 0x000F_000F_000F_000F
        return (tens | (twos &- 10 &* tens) << 8) | 0x3030_3030_3030_3030
    }
}

extension TextWriter {
    /// Appends a number in decimal to a writer with capacity for at least 25 more bytes.
    public mutating func append(decimal number: UInt64) {
        guard number >= 100_000_000_000_000_000 else { return append(DecimalDigits(number)) }
        let (high, low) = number.quotientAndRemainder(dividingBy: 10)
        append(decimal: high)
        append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: low))
    }

    /// Appends the digits of a number to a writer with capacity for at least 24 more bytes.
    mutating func append(_ digits: DecimalDigits) {
        store(digits.words.0, at: count)
        store(digits.words.1, at: count + 8)
        store(digits.words.2, at: count + 16)
        advance(by: digits.count)
    }
}
