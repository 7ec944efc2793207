/// The decimal with the fewest digits that reads back as the same binary real, and of these the nearest to it.
///
/// Source: R. Giulietti, "The Schubfach way to render doubles".
struct ShortestDecimal {
    /// The digits as one number, without zeros at its end: at most 17.
    private(set) var digits: UInt64
    /// The power of ten that the digits count.
    private(set) var exponent: Int

    /// The decimal of the magnitude of a real that is finite and not zero.
    init(_ real: Double) {
        let fraction = real.significandBitPattern
        let biased = Int(real.exponentBitPattern)
        let significand = biased == 0 ? fraction : fraction | 1 << 52
        let exponent = max(biased, 1) - 1075
        let isWhole = exponent <= 0 && exponent > -53 && significand.trailingZeroBitCount >= -exponent
        if isWhole {
            self.init(trimming: significand >> UInt64(-exponent), exponent: 0)
        } else {
            self.init(significand, exponent, isPowerOfTwo: fraction == 0 && biased > 1)
        }
    }

    /// - Parameter isPowerOfTwo: whether the real below is nearer than the one above.
    private init(_ significand: UInt64, _ exponent: Int, isPowerOfTwo: Bool) {
        // Four times the real and the borders of what is read as it, in units of 10^k.
        let k = (exponent * 1_262_611 - (isPowerOfTwo ? 524_031 : 0)) >> 22
        let shift = UInt64(exponent + (-k * 1_741_647) >> 19 + 1)
        let power = PowersOfTen.table[-k - PowersOfTen.exponents.lowerBound]
        let value = power.scale((significand << 2) << shift)
        let isOdd = significand & 1
        let lower = power.scale((significand << 2 - (isPowerOfTwo ? 1 : 2)) << shift) + isOdd
        let upper = power.scale((significand << 2 + 2) << shift) - isOdd

        let whole = value >> 2
        let tens = whole / 10
        // A digit less, if just one number with so many lies between the borders.
        let (tensFit, nextTensFit) = (lower <= 40 * tens, 40 * tens + 40 <= upper)
        if whole >= 10, tensFit != nextTensFit {
            self.init(trimming: tens + (nextTensFit ? 1 : 0), exponent: k + 1)
            return
        }
        let (wholeFits, nextFits) = (lower <= whole << 2, whole << 2 + 4 <= upper)
        let middle = whole << 2 + 2
        let isPastMiddle = value > middle || value == middle && whole & 1 == 1
        let roundsUp = wholeFits == nextFits ? isPastMiddle : nextFits
        self.init(trimming: whole + (roundsUp ? 1 : 0), exponent: k)
    }

    /// Leaves the zeros at the end of the digits out, at most 16.
    private init(trimming digits: UInt64, exponent: Int) {
        self.digits = digits
        self.exponent = exponent
        guard digits % 10 == 0 else { return }
        trim(100_000_000, zeros: 8)
        trim(10_000, zeros: 4)
        trim(100, zeros: 2)
        trim(10, zeros: 1)
        trim(10, zeros: 1)
    }

    private mutating func trim(_ divisor: UInt64, zeros: Int) {
        let (quotient, rest) = digits.quotientAndRemainder(dividingBy: divisor)
        if rest == 0 { (digits, exponent) = (quotient, exponent + zeros) }
    }
}

extension PowersOfTen.Power {
    /// The high bits of the product; the lowest of them is set where lower ones are.
    fileprivate func scale(_ number: UInt64) -> UInt64 {
        let below = low.multipliedFullWidth(by: number)
        let above = high.multipliedFullWidth(by: number)
        let (middle, carry) = above.low.addingReportingOverflow(below.high)
        return (above.high &+ (carry ? 1 : 0)) | (middle > 1 ? 1 : 0)
    }
}
