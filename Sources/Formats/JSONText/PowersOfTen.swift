/// The powers of ten that a binary real can come to, each with 128 bits.
enum PowersOfTen {
    /// The leading bits of a power, the highest of which is set; the last one is rounded up where bits follow.
    struct Power {
        let high: UInt64
        let low: UInt64
    }

    /// The exponents of the table.
    static let exponents = -292...324

    /// The powers of ``exponents`` in their order: 0.2 ms of work that is done once, instead of 617 lines.
    static let table: [Power] = {
        var (rising, falling) = (Mantissa(), Mantissa())
        var table = [rising.power]
        for _ in 1...exponents.upperBound {
            rising.multiplyByFive()
            table.append(rising.power)
        }
        var small: [Power] = []
        for _ in 1...(-exponents.lowerBound) {
            falling.divideByFive()
            small.append(falling.power)
        }
        return small.reversed() + table
    }()

    /// A power of five without its factor of two, which makes a power of ten of it. All bits of 5³²⁴ fit; the powers below
    /// one are cut off far behind the bits that count.
    private struct Mantissa {
        /// The highest word is the first, and its highest bit is set.
        private var words = [1 << 63] + [UInt64](repeating: 0, count: 21)

        var power: Power {
            let isExact = words[2...].allSatisfy { $0 == 0 }
            let (low, carry) = words[1].addingReportingOverflow(isExact ? 0 : 1)
            return Power(high: words[0] &+ (carry ? 1 : 0), low: low)
        }

        mutating func multiplyByFive() {
            var carry: UInt64 = 0
            for place in words.indices.reversed() {
                let product = words[place].multipliedFullWidth(by: 5)
                let (low, overflow) = product.low.addingReportingOverflow(carry)
                words[place] = low
                carry = product.high &+ (overflow ? 1 : 0)
            }
            let shift = UInt64(64 - carry.leadingZeroBitCount)
            for place in words.indices {
                let word = words[place]
                words[place] = carry << (64 - shift) | word >> shift
                carry = word
            }
        }

        mutating func divideByFive() {
            var remainder: UInt64 = 0
            for place in words.indices {
                (words[place], remainder) = (5 as UInt64).dividingFullWidth((remainder, words[place]))
            }
            let shift = UInt64(words[0].leadingZeroBitCount)
            for place in words.indices {
                let next = place + 1 < words.count ? words[place + 1] : 0
                words[place] = words[place] << shift | next >> (64 - shift)
            }
        }
    }
}
