/// The digits of a number with at most 17 of them in ASCII, from the first on, and zeros behind them.
struct DecimalDigits {
    /// Eight digits each, the first one lowest, and one more.
    let words: (UInt64, UInt64, UInt64)
    /// How many there are.
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
    /// 10⁰ to 10¹⁹, written out so that nothing has to be made at run time.
    static let powersOfTen: [UInt64] = [
        1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000, 10_000_000_000,
        100_000_000_000, 1_000_000_000_000, 10_000_000_000_000, 100_000_000_000_000, 1_000_000_000_000_000,
        10_000_000_000_000_000, 100_000_000_000_000_000, 1_000_000_000_000_000_000, 10_000_000_000_000_000_000,
    ]

    /// How many digits the number has in decimal; it has to be below 10¹⁹.
    fileprivate var decimalDigitCount: Int {
        // The logarithm to base 2, to base 10: too small by one at most.
        let guess = ((63 - (self | 1).leadingZeroBitCount) * 1233) >> 12
        return self < Self.powersOfTen[guess + 1] ? guess + 1 : guess + 2
    }

    /// The digits of a number below 10⁸ in ASCII, the first one lowest: all eight at once.
    fileprivate var eightDigits: UInt64 {
        // Two numbers of four digits, four of two, eight of one, side by side.
        let fours = self / 10_000 | (self % 10_000) << 32
        let hundreds = (fours &* 10_486) >> 20 & 0x7F_0000_007F
        let twos = hundreds | (fours &- 100 &* hundreds) << 16
        let tens = (twos &* 103) >> 10 & 0x000F_000F_000F_000F
        return (tens | (twos &- 10 &* tens) << 8) | 0x3030_3030_3030_3030
    }
}

extension TextWriter {
    /// Appends a number in decimal, for which there has to be room: 25 bytes.
    public mutating func append(decimal number: UInt64) {
        guard number >= 100_000_000_000_000_000 else { return append(DecimalDigits(number)) }
        let (high, low) = number.quotientAndRemainder(dividingBy: 10)
        append(decimal: high)
        append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: low))
    }

    /// Appends digits, for which there has to be room: 24 bytes.
    mutating func append(_ digits: DecimalDigits) {
        store(digits.words.0, at: count)
        store(digits.words.1, at: count + 8)
        store(digits.words.2, at: count + 16)
        skip(digits.count)
    }
}
