extension [UInt8] {
    /// Appends a finite binary real as RFC 8785 (JSON Canonicalization Scheme, 3.2.2.3) writes it: the shortest digits
    /// that read back as the same number, in the form of ECMAScript.
    ///
    /// JSON has no other reals: what is infinite or not a number is appended as `null`.
    public mutating func append(jsonNumber real: Double) {
        guard real.isFinite else { return append(contentsOf: "null".utf8) }
        guard real != 0 else { return append(UInt8(ascii: "0")) }
        let description = real.description
        let text = description.utf8Span.span
        if let plain = text.withoutExponent { return append(copying: plain) }
        append(addingCapacity: ShortestDecimal.lengthLimit) { output in ShortestDecimal(text).write(to: &output) }
    }
}

extension Span<UInt8> {
    /// A real as Swift describes it between 2⁻¹⁴ and 2⁵⁴ or so: what ECMAScript writes too, but for `.0` at the end of
    /// whole numbers. Nil if it has an exponent.
    fileprivate var withoutExponent: Span<UInt8>? {
        @_lifetime(copy self)
        get {
            // An exponent has a sign and two or three digits.
            for index in Swift.max(0, count - 5)..<count where self[index] == UInt8(ascii: "e") { return nil }
            let isWhole = count > 2 && self[count - 1] == UInt8(ascii: "0") && self[count - 2] == UInt8(ascii: ".")
            return extracting(0..<(isWhole ? count - 2 : count))
        }
    }
}

/// The digits of a real as Swift describes it, which are the shortest ones.
private struct ShortestDecimal {
    /// Sign, 17 digits, a point, up to six zeros, an exponent.
    static let lengthLimit = 32

    private let isNegative: Bool
    /// The digits as one number, without zeros at its end.
    private let digits: UInt64
    private let digitCount: Int
    /// How many digits stand in front of the decimal point; zeros are added, or left out, as it takes.
    private let point: Int

    init(_ description: Span<UInt8>) {
        var digits: UInt64 = 0
        var count = 0
        var zeros = 0
        var point: Int?
        var lead = 0
        var exponent = 0
        var index = 0
        isNegative = description[0] == UInt8(ascii: "-")
        if isNegative { index = 1 }
        while index < description.count {
            let byte = description[index]
            index += 1
            switch byte {
            case UInt8(ascii: "."):
                point = count + zeros
            case UInt8(ascii: "e"):
                exponent = Self.exponent(description.extracting(index...))
                index = description.count
            case UInt8(ascii: "0"):
                if count > 0 { zeros += 1 } else if point != nil { lead += 1 }
            default:
                for _ in 0..<zeros { digits *= 10 }
                digits = digits * 10 + UInt64(byte & 0xF)
                count += zeros + 1
                zeros = 0
            }
        }
        self.digits = digits
        digitCount = count
        self.point = (point ?? count + zeros) - lead + exponent
    }

    private static func exponent(_ text: Span<UInt8>) -> Int {
        var value = 0
        for index in text.indices where text[index] >= UInt8(ascii: "0") { value = value * 10 + Int(text[index] & 0xF) }
        return text[0] == UInt8(ascii: "-") ? -value : value
    }

    /// Source of the ranges: ECMAScript, Number::toString.
    func write(to output: inout OutputSpan<UInt8>) {
        if isNegative { output.append(UInt8(ascii: "-")) }
        switch point {
        case digitCount... where point <= 21:
            write(digits, count: digitCount, to: &output)
            for _ in digitCount..<point { output.append(UInt8(ascii: "0")) }
        case 1...21:
            write(to: &output, pointAfter: point)
        case -5...0:
            output.append(UInt8(ascii: "0"))
            output.append(UInt8(ascii: "."))
            for _ in point..<0 { output.append(UInt8(ascii: "0")) }
            write(digits, count: digitCount, to: &output)
        default:
            write(to: &output, pointAfter: 1)
            output.append(UInt8(ascii: "e"))
            output.append(point > 0 ? UInt8(ascii: "+") : UInt8(ascii: "-"))
            let exponent = UInt64(abs(point - 1))
            write(exponent, count: exponent < 10 ? 1 : exponent < 100 ? 2 : 3, to: &output)
        }
    }

    private func write(to output: inout OutputSpan<UInt8>, pointAfter place: Int) {
        var scale: UInt64 = 1
        for _ in place..<digitCount { scale *= 10 }
        write(digits / scale, count: place, to: &output)
        guard place < digitCount else { return }
        output.append(UInt8(ascii: "."))
        write(digits % scale, count: digitCount - place, to: &output)
    }

    private func write(_ number: UInt64, count: Int, to output: inout OutputSpan<UInt8>) {
        var divisor: UInt64 = 1
        for _ in 1..<count { divisor *= 10 }
        var rest = number
        for _ in 0..<count {
            output.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest / divisor))
            rest %= divisor
            divisor /= 10
        }
    }
}
