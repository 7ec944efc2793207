/// A place for a number at each rank, to put a few numbers in order by their ranks without comparing them.
struct SiftRankedPlaces {
    private var numbers = [Int](repeating: 0, count: SiftKeyTable.limit)
    /// A bit for each rank that has a number.
    private var taken = [UInt64](repeating: 0, count: SiftKeyTable.limit / 64)

    /// Puts a number at a rank.
    /// - Returns: false if there is one already, which is left there.
    @inline(__always)
    mutating func insert(_ number: Int, at rank: Int) -> Bool {
        let bit: UInt64 = 1 << UInt64(truncatingIfNeeded: rank & 63)
        guard taken[rank >> 6] & bit == 0 else { return false }
        taken[rank >> 6] |= bit
        numbers[rank] = number
        return true
    }

    /// Takes all numbers, by rank.
    @inline(__always)
    mutating func removeAll(_ take: (Int) -> Void) {
        for word in taken.indices {
            var bits = taken[word]
            guard bits != 0 else { continue }
            taken[word] = 0
            while bits != 0 {
                take(numbers[word << 6 + bits.trailingZeroBitCount])
                bits &= bits - 1
            }
        }
    }
}
