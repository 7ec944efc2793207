import Bytes

/// The numbers of gaps, repetitions and restarts of sequence numbers, and the largest gaps.
struct GapCounts: Sendable {
    /// A row of the table of gaps.
    struct Gap: Sendable, Equatable {
        let client: String
        let system: String
        let type: String
        let first: Int
        let last: Int
        let count: Int
        let timeBefore: String?
        let timeAfter: String?
    }

    private(set) var gapCount = 0
    /// The number of missing sequence numbers.
    private(set) var missingCount = 0
    /// The number of additional records with a sequence number that another record has.
    private(set) var repeatedCount = 0
    private(set) var restartCount = 0
    /// The gaps with the most missing numbers.
    private(set) var largest = LargestValues<Gap>(limit: maxRowCount)

    /// The maximum number of gaps with separate rows.
    static let maxRowCount = 40

    mutating func add(_ gap: Gap) {
        gapCount += 1
        missingCount = missingCount.addingSaturated(gap.count)
        largest.add(gap, size: gap.count)
    }

    mutating func addRestart() { restartCount += 1 }

    mutating func addRepetition(extraCount: Int) { repeatedCount = repeatedCount.addingSaturated(extraCount) }

    mutating func add(_ later: GapCounts) {
        gapCount += later.gapCount
        missingCount = missingCount.addingSaturated(later.missingCount)
        repeatedCount = repeatedCount.addingSaturated(later.repeatedCount)
        restartCount += later.restartCount
        largest.add(later.largest)
    }
}
