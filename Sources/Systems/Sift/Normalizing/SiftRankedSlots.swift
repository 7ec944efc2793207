/// Slots that order the members of a dictionary by the ranks of their keys, without comparisons.
struct SiftRankedSlots: Sendable {
    private var members: [SiftValueWriter.Member]
    /// Bits that indicate which slots are in use.
    private var usedSlotBits = [UInt64](repeating: 0, count: SiftKeyTable.maximumKeyCount / 64)

    init() {
        let unused = SiftValueWriter.Member(rank: 0, keyEntry: 0, position: 0, object: nil)
        members = Array(repeating: unused, count: SiftKeyTable.maximumKeyCount)
    }

    /// Inserts a member into the slot of its rank, or returns `false` if the slot is in use.
    @inline(__always)
    mutating func insert(_ member: SiftValueWriter.Member) -> Bool {
        let rank = Int(member.rank)
        let bit: UInt64 = 1 << UInt64(truncatingIfNeeded: rank & 63)
        guard usedSlotBits[rank >> 6] & bit == 0 else { return false }
        usedSlotBits[rank >> 6] |= bit
        members[rank] = member
        return true
    }

    /// Calls `body` with each member in the order of the ranks, and removes all members.
    @inline(__always)
    mutating func removeAll(_ body: (SiftValueWriter.Member) -> Void) {
        for word in usedSlotBits.indices {
            var bits = usedSlotBits[word]
            guard bits != 0 else { continue }
            usedSlotBits[word] = 0
            while bits != 0 {
                body(members[word << 6 + bits.trailingZeroBitCount])
                bits &= bits - 1
            }
        }
    }
}
