/// A place for an element at each rank of a ``SiftKeyTable``, to put a few in order by their ranks without comparing them.
struct SiftRankedPlaces<Element: Sendable>: Sendable {
    private var elements: [Element]
    /// A bit for each rank that has an element.
    private var taken = [UInt64](repeating: 0, count: SiftKeyTable.limit / 64)

    /// - Parameter empty: what stands at places that are not taken.
    init(empty: Element) {
        elements = Array(repeating: empty, count: SiftKeyTable.limit)
    }

    /// Puts an element at a rank.
    /// - Returns: false if there is one already, which is left there.
    @inline(__always)
    mutating func insert(_ element: Element, at rank: Int) -> Bool {
        let bit: UInt64 = 1 << UInt64(truncatingIfNeeded: rank & 63)
        guard taken[rank >> 6] & bit == 0 else { return false }
        taken[rank >> 6] |= bit
        elements[rank] = element
        return true
    }

    /// Removes all elements and gives them by rank.
    @inline(__always)
    mutating func removeAll(_ take: (Element) -> Void) {
        for word in taken.indices {
            var bits = taken[word]
            guard bits != 0 else { continue }
            taken[word] = 0
            while bits != 0 {
                take(elements[word << 6 + bits.trailingZeroBitCount])
                bits &= bits - 1
            }
        }
    }
}
