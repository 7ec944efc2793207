import Bytes

/// Writes reals as RFC 8785 (JSON Canonicalization Scheme, section 3.2.2.3) specifies.
///
/// The output has the fewest digits that read back as the same number, in the notation of ECMAScript. Numbers that are
/// infinite or not a number become `null`.
extension TextWriter {
    /// The maximum number of bytes that a floating-point number occupies in JSON.
    ///
    /// Digits are stored eight bytes at a time. The bytes stored after the last digit fit into ``TextWriter/slack``, so
    /// this limit does not include them.
    static let realLengthLimit = 32

    /// Appends a real to a writer with capacity for at least 32 more bytes.
    public mutating func append(jsonNumber real: Double) {
        guard real.isFinite else { return append("null") }
        guard real != 0 else { return append(UInt8(ascii: "0")) }
        if real < 0 { append(UInt8(ascii: "-")) }
        let decimal = ShortestDecimal(real)
        append(decimal.digits, timesTenTo: decimal.exponent)
    }

    /// Appends `number` × 10^`exponent` in the notation that ECMAScript, section Number::toString, specifies.
    private mutating func append(_ number: UInt64, timesTenTo exponent: Int) {
        let digits = DecimalDigits(number)
        // The number of digits before the decimal point.
        let point = digits.count + exponent
        switch point {
        case digits.count... where point <= 21:
            append(digits)
            append(zeros: exponent)
        case 1...21:
            append(number, fractionDigits: -exponent)
        case -5...0:
            append("0.")
            append(zeros: -point)
            append(digits)
        default:
            if digits.count > 1 { append(number, fractionDigits: digits.count - 1) } else { append(digits) }
            append(UInt8(ascii: "e"))
            append(point > 0 ? UInt8(ascii: "+") : UInt8(ascii: "-"))
            append(decimal: UInt64(abs(point - 1)))
        }
    }

    /// Appends a number whose last digit is not zero, with a decimal point before the last `count` digits.
    private mutating func append(_ number: UInt64, fractionDigits count: Int) {
        let (whole, fraction) = number.quotientAndRemainder(dividingBy: UInt64.powersOfTen[count])
        append(decimal: whole)
        append(UInt8(ascii: "."))
        let digits = DecimalDigits(fraction)
        append(zeros: count - digits.count)
        append(digits)
    }

    private mutating func append(zeros count: Int) {
        for _ in 0..<count { append(UInt8(ascii: "0")) }
    }
}

/// The shortest sequence of digits that reads back as the same real, and the power of ten to multiply it by.
private struct ShortestDecimal {
    private(set) var digits: UInt64 = 0
    private(set) var exponent = 0

    /// Parses the description of a finite real other than zero, for example `123.0` or `1.5e-07`.
    init(_ real: Double) {
        let text = real.magnitude.description
        let bytes = text.utf8.span
        var fractionLength: Int?
        reading: for index in bytes.indices {
            switch bytes[index] {
            case UInt8(ascii: "."): fractionLength = 0
            case let digit where digit.isDigit:
                digits = digits * 10 + UInt64(digit - UInt8(ascii: "0"))
                fractionLength? += 1
            default:
                // An exponent follows, for example `e-07`.
                exponent = Int(String(readingUTF8: bytes.extracting((index + 1)...))) ?? 0
                break reading
            }
        }
        exponent -= fractionLength ?? 0
        while digits % 10 == 0 { (digits, exponent) = (digits / 10, exponent + 1) }
    }
}

extension TextBuffer {
    /// Appends a real as JSON, or `null` if it is infinite or not a number.
    public mutating func append(jsonNumber real: Double) {
        append(atMost: TextWriter.realLengthLimit) { $0.append(jsonNumber: real) }
    }
}

extension [UInt8] {
    /// Appends a real as JSON, or `null` if it is infinite or not a number.
    public mutating func append(jsonNumber real: Double) {
        var text = TextBuffer()
        text.append(jsonNumber: real)
        append(contentsOf: text[0..<text.count])
    }
}

/// The ASCII digits of a number with at most 17 digits, padded with trailing zeros.
private struct DecimalDigits {
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
    private mutating func append(_ digits: DecimalDigits) {
        store(digits.words.0, at: count)
        store(digits.words.1, at: count + 8)
        store(digits.words.2, at: count + 16)
        advance(by: digits.count)
    }
}
