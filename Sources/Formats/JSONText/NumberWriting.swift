import Bytes

/// Writes reals as RFC 8785 (JSON Canonicalization Scheme, section 3.2.2.3) specifies.
///
/// The output has the fewest digits that read back as the same number, in the notation of ECMAScript. Numbers that are
/// infinite or not a number become `null`.
extension TextWriter {
    /// The maximum number of bytes that a floating-point number occupies in JSON.
    static let realLengthLimit = 32

    /// Appends a real to a writer with capacity for at least 32 more bytes.
    public mutating func append(jsonNumber real: Double) {
        guard real.isFinite else { return append("null") }
        guard real != 0 else { return append(UInt8(ascii: "0")) }
        if real < 0 { append(UInt8(ascii: "-")) }
        let decimal = ShortestDecimal(real)
        let (count, point) = (decimal.count, decimal.point)
        switch point {
        case count... where point <= 21:
            append(decimal, 0..<count)
            append(zeros: point - count)
        case 1...21:
            append(decimal, 0..<point)
            append(UInt8(ascii: "."))
            append(decimal, point..<count)
        case -5...0:
            append("0.")
            append(zeros: -point)
            append(decimal, 0..<count)
        default:
            append(decimal, 0..<1)
            if count > 1 { append(UInt8(ascii: ".")) }
            append(decimal, 1..<count)
            append(UInt8(ascii: "e"))
            append(point > 0 ? UInt8(ascii: "+") : UInt8(ascii: "-"))
            append(decimal: UInt64(abs(point - 1)))
        }
    }

    private mutating func append(_ decimal: ShortestDecimal, _ range: Range<Int>) {
        for index in range { append(decimal.digits[index]) }
    }

    private mutating func append(zeros count: Int) {
        for _ in 0..<max(count, 0) { append(UInt8(ascii: "0")) }
    }

    /// Appends a number in decimal to a writer with capacity for at least 20 more bytes.
    public mutating func append(decimal number: UInt64) {
        var digits = InlineArray<20, UInt8>(repeating: 0)
        var start = digits.count
        var rest = number
        repeat {
            start -= 1
            digits[start] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        } while rest > 0
        for index in start..<digits.count { append(digits[index]) }
    }
}

/// Writes reals as `Double.toString` of Java 19 and later does.
extension TextWriter {
    /// Appends a finite real to a writer with capacity for at least 32 more bytes.
    ///
    /// The notation is plain from 10⁻³ up to, but not including, 10⁷. Otherwise, it has an exponent. At least one digit
    /// follows the point.
    mutating func append(javaNumber real: Double) {
        if real.sign == .minus { append(UInt8(ascii: "-")) }
        guard real != 0 else { return append("0.0") }
        var decimal = ShortestDecimal(real)
        if decimal.count == 1, real.magnitude.bitPattern <= ShortestDecimal.maximumInexactPattern {
            decimal = ShortestDecimal(twoDigitsOf: real.magnitude.bitPattern)
        }
        let (count, point) = (decimal.count, decimal.point)
        switch point {
        case -2...0:
            append("0.")
            append(zeros: -point)
            append(decimal, 0..<count)
        case 1...7:
            append(decimal, 0..<min(point, count))
            append(zeros: point - count)
            append(UInt8(ascii: "."))
            append(decimal, min(point, count)..<count)
            if count <= point { append(UInt8(ascii: "0")) }
        default:
            append(decimal, 0..<1)
            append(UInt8(ascii: "."))
            append(decimal, 1..<count)
            if count == 1 { append(UInt8(ascii: "0")) }
            append(UInt8(ascii: "E"))
            if point < 1 { append(UInt8(ascii: "-")) }
            append(decimal: UInt64(abs(point - 1)))
        }
    }
}

/// The shortest sequence of digits that reads back as the same real, and the position of the decimal point.
private struct ShortestDecimal {
    /// The digits in ASCII, from the first to the last that is not zero, followed by unused bytes.
    private(set) var digits = InlineArray<24, UInt8>(repeating: 0)
    private(set) var count = 0
    /// The number of digits before the decimal point, which is negative if zeros follow the point.
    private(set) var point = 0

    /// Parses the description of a positive finite real, for example `123.0` or `1.5e-07`.
    init(_ real: Double) {
        let text = real.magnitude.description
        let bytes = text.utf8.span
        var exponent = 0
        var hasPoint = false
        reading: for index in bytes.indices {
            switch bytes[index] {
            case UInt8(ascii: "."): hasPoint = true
            case let digit where digit.isDigit:
                if count == 0, digit == UInt8(ascii: "0") {
                    if hasPoint { point -= 1 }
                    continue
                }
                digits[count] = digit
                count += 1
                if !hasPoint { point += 1 }
            default:
                // An exponent follows, for example `e-07`.
                exponent = Int(String(readingUTF8: bytes.extracting((index + 1)...))) ?? 0
                break reading
            }
        }
        point += exponent
        while count > 0, digits[count - 1] == UInt8(ascii: "0") { count -= 1 }
    }

    /// The maximum bit pattern of a real that one digit identifies although two digits are closer to it.
    ///
    /// Such reals are so small that neighboring reals differ by more than 1 %.
    static let maximumInexactPattern: UInt64 = 100

    /// Creates the two digits that are closest to `pattern` × 2⁻¹⁰⁷⁴, which is at most ``maximumInexactPattern`` times the
    /// smallest real.
    init(twoDigitsOf pattern: UInt64) {
        // The smallest real is 0.49406564584124654 × 10⁻³²³.
        var significand = pattern * 49_406_564_584_124_654
        point = -340
        while significand >= 1000 {
            significand /= 10
            point += 1
        }
        significand = (significand + 5) / 10
        point += 3
        digits[0] = UInt8(ascii: "0") + UInt8(significand / 10)
        digits[1] = UInt8(ascii: "0") + UInt8(significand % 10)
        count = 2
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
