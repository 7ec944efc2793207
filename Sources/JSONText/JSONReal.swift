/// A binary real as RFC 8785 (JSON Canonicalization Scheme, 3.2.2.3) writes it: the shortest digits that read back as the
/// same number, in the form of ECMAScript.
///
/// JSON has no other reals: what is infinite or not a number is `null`.
public struct JSONReal {
    /// Sign, 17 digits, a point, up to six zeros or an exponent; and room for a store that writes more than it has to.
    private var memory = InlineArray<48, UInt8>(repeating: UInt8(ascii: "0"))
    private var count = 0

    /// Makes the text of a real.
    public init(_ real: Double) {
        guard real.isFinite else {
            for byte in "null".utf8 { write(byte) }
            return
        }
        guard real != 0 else {
            count = 1
            return
        }
        if real < 0 { write(UInt8(ascii: "-")) }
        write(ShortestDecimal(real))
    }

    /// The text.
    public var utf8: Span<UInt8> {
        @_lifetime(borrow self)
        get { memory.span.extracting(first: count) }
    }

    private mutating func write(_ byte: UInt8) {
        memory[count] = byte
        count += 1
    }

    /// Source of the ranges: ECMAScript, Number::toString.
    private mutating func write(_ decimal: ShortestDecimal) {
        let digitCount = decimal.digits.decimalDigitCount
        // How many digits stand in front of the decimal point; zeros are added, or left out, as it takes.
        let point = digitCount + decimal.exponent
        let start = count
        switch point {
        case digitCount... where point <= 21:
            // What stands behind the digits is zeros already.
            write(decimal.digits, count: digitCount, at: start)
            count = start + point
        case 1...21:
            write(decimal.digits, count: digitCount, at: start, pointAfter: point)
        case -5...0:
            memory[start + 1] = UInt8(ascii: ".")
            write(decimal.digits, count: digitCount, at: start + 2 - point)
            count = start + 2 - point + digitCount
        default:
            write(decimal.digits, count: digitCount, at: start, pointAfter: 1)
            write(UInt8(ascii: "e"))
            write(point > 0 ? UInt8(ascii: "+") : UInt8(ascii: "-"))
            let exponent = UInt64(abs(point - 1))
            let length = exponent.decimalDigitCount
            write(exponent, count: length, at: count)
            count += length
        }
    }

    /// Writes digits with a point among them, or none where they end at it.
    private mutating func write(_ digits: UInt64, count digitCount: Int, at start: Int, pointAfter point: Int) {
        guard point < digitCount else {
            write(digits, count: digitCount, at: start)
            return count = start + digitCount
        }
        // One place too far at first; then those in front of the point move back.
        write(digits, count: digitCount, at: start + 1)
        for place in start..<start + point { memory[place] = memory[place + 1] }
        memory[start + point] = UInt8(ascii: ".")
        count = start + digitCount + 1
    }

    /// Writes up to 17 digits, and zeros behind them.
    private mutating func write(_ digits: UInt64, count digitCount: Int, at start: Int) {
        let aligned = digits * UInt64.powersOfTen[17 - digitCount]
        let (front, last) = aligned.quotientAndRemainder(dividingBy: 10)
        let (high, low) = front.quotientAndRemainder(dividingBy: 100_000_000)
        write(high.eightDigits, at: start)
        write(low.eightDigits, at: start + 8)
        memory[start + 16] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: last)
    }

    @inline(__always)
    private mutating func write(_ word: UInt64, at start: Int) {
        precondition(start >= 0 && start <= 40)
        for place in 0..<8 {
            memory[start &+ place] = UInt8(truncatingIfNeeded: word &>> UInt64(truncatingIfNeeded: 8 &* place))
        }
    }
}

extension UInt64 {
    /// 10⁰ to 10¹⁹.
    fileprivate static let powersOfTen: [UInt64] = (0..<20).map { exponent in
        (0..<exponent).reduce(1) { power, _ in power * 10 }
    }

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

extension [UInt8] {
    /// Appends a real as ``JSONReal`` writes it.
    public mutating func append(jsonNumber real: Double) {
        append(copying: JSONReal(real).utf8)
    }
}

extension TextWriter {
    /// Appends a real as ``JSONReal`` writes it, for which there has to be room: 32 bytes.
    public mutating func append(jsonNumber real: Double) {
        append(copying: JSONReal(real).utf8)
    }
}
