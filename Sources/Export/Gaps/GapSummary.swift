import Bytes
import Telemetry

/// The totals of all sequences, and the sequences, gaps and comparisons with the most missing or differing numbers.
public struct GapSummary: Sendable {
    /// The totals of the comparisons of all sequences with an expected list.
    public struct ComparisonTotals: Sendable, Equatable {
        /// The number of sequence numbers that both the input and the list contain.
        public var commonCount = 0
        /// The number of sequence numbers that only the input contains.
        public var filledCount = 0
        /// The number of missing sequence numbers that neither the input nor the list contains.
        public var openCount = 0
        /// The number of sequence numbers that only the list contains.
        public var expectedOnlyCount = 0
        /// The number of rows of the list that repeat an earlier row.
        public var repeatedRowCount = 0
    }

    /// The number of sequences in the input and in the expected list.
    public private(set) var sequenceCount = 0
    /// The number of clients with sequences.
    public private(set) var clientCount = 0
    /// The totals of all sequences.
    public private(set) var totals = SequenceTotals()
    /// The totals of the comparisons of all sequences with an expected list, which are all 0 if there is no list.
    public private(set) var comparisonTotals = ComparisonTotals()
    /// The number of gaps, repetitions and restarts.
    public private(set) var rowCount = 0
    /// The number of sequences with gaps, repetitions or restarts.
    public private(set) var incompleteCount = 0
    /// The number of sequences with a counter of the app that is higher than the highest number of the records.
    public private(set) var endCount = 0
    /// The number of sequence numbers after the records, up to the counters of the apps.
    public private(set) var numbersAtEndCount = 0
    /// The number of sequences with numbers that are missing from the input, from the list, or from both.
    public private(set) var differenceCount = 0
    /// The sequences with the most missing numbers, in descending order.
    public private(set) var largestSequences: LargestValues<NumberedSequence>
    /// The gaps with the most missing numbers, in descending order, followed by repetitions and restarts.
    public private(set) var largestRows: LargestValues<GapRow>
    /// The sequences with the most differences from an expected list, in descending order.
    public private(set) var largestComparisons: LargestValues<NumberedSequence>
    /// The sequences with the most numbers after their records, in descending order.
    public private(set) var largestEnds: LargestValues<NumberedSequence>
    private var lastClient: (system: SystemName, client: ClientID)?

    /// Summarizes all sequences, and keeps at most `limit` sequences, gaps and comparisons.
    ///
    /// `forEachSequence` must pass the sequences of each client consecutively.
    public init(limit: Int, _ forEachSequence: ((NumberedSequence) -> Void) -> Void) {
        largestSequences = LargestValues(limit: limit)
        largestRows = LargestValues(limit: limit)
        largestComparisons = LargestValues(limit: limit)
        largestEnds = LargestValues(limit: limit)
        forEachSequence { add($0) }
    }

    private mutating func add(_ sequence: NumberedSequence) {
        sequenceCount += 1
        let client = (system: sequence.system, client: ClientID(sequence.client))
        if lastClient.map({ $0 != client }) ?? true { clientCount += 1 }
        lastClient = client
        let totals = SequenceTotals(sequence)
        self.totals += totals
        if !totals.isComplete {
            incompleteCount += 1
            largestSequences.add(sequence, size: totals.missingCount)
        }
        sequence.forEachGap { row in
            rowCount += 1
            largestRows.add(row, size: row.reason == .missing ? row.count : 0)
        }
        if let numbers = sequence.numbersAtEnd {
            endCount += 1
            numbersAtEndCount = numbersAtEndCount.addingSaturated(numbers.sequenceCount)
            largestEnds.add(sequence, size: numbers.sequenceCount)
        }
        if let comparison = sequence.comparison { add(comparison, of: sequence) }
    }

    private mutating func add(_ comparison: ExpectedComparison, of sequence: NumberedSequence) {
        let (filled, open) = (Self.count(comparison.filled), Self.count(comparison.open))
        let expectedOnly = Self.count(comparison.expectedOnly)
        comparisonTotals.commonCount += comparison.commonCount
        comparisonTotals.filledCount += filled
        comparisonTotals.openCount = comparisonTotals.openCount.addingSaturated(open)
        comparisonTotals.expectedOnlyCount += expectedOnly
        comparisonTotals.repeatedRowCount += comparison.repeatedRowCount
        let size = filled.addingSaturated(open).addingSaturated(expectedOnly)
        guard size > 0 else { return }
        differenceCount += 1
        largestComparisons.add(sequence, size: size)
    }

    private static func count(_ ranges: [ClosedRange<Int64>]) -> Int {
        ranges.reduce(0) { $0.addingSaturated($1.sequenceCount) }
    }
}

/// The totals of one or all sequences.
///
/// If the number of missing numbers exceeds `Int.max`, it is stored as `Int.max`.
public struct SequenceTotals: Sendable, Equatable {
    /// The number of records with a sequence number.
    public private(set) var recordCount = 0
    /// The number of restarts, which is the number of runs after the first run of each sequence.
    public private(set) var restartCount = 0
    /// The number of gaps.
    public private(set) var gapCount = 0
    /// The number of missing sequence numbers, added up over all gaps.
    public private(set) var missingCount = 0
    /// The number of additional records with a number that another record of the same run has.
    public private(set) var repeatedCount = 0

    fileprivate init() {}

    /// Creates the totals of a sequence.
    public init(_ sequence: NumberedSequence) {
        restartCount = max(0, sequence.runs.count - 1)
        for run in sequence.runs {
            recordCount += run.recordCount
            gapCount += run.missing.count
            for gap in run.missing { missingCount = missingCount.addingSaturated(gap.numbers.sequenceCount) }
            for numbers in run.repeated { repeatedCount += numbers.extraCount }
        }
    }

    /// Whether there are no gaps, repetitions or restarts.
    fileprivate var isComplete: Bool { gapCount == 0 && repeatedCount == 0 && restartCount == 0 }

    fileprivate static func += (left: inout SequenceTotals, right: SequenceTotals) {
        left.recordCount += right.recordCount
        left.restartCount += right.restartCount
        left.gapCount += right.gapCount
        left.missingCount = left.missingCount.addingSaturated(right.missingCount)
        left.repeatedCount += right.repeatedCount
    }
}

/// The largest of any number of values, in descending order of their sizes.
///
/// Values of the same size are in the order in which they were added.
public struct LargestValues<Value: Sendable>: Sendable {
    private var candidates: [(value: Value, size: Int)] = []
    private let limit: Int

    init(limit: Int) {
        self.limit = limit
    }

    mutating func add(_ value: Value, size: Int) {
        candidates.append((value, size))
        if candidates.count >= 2 * max(limit, 1) { candidates = largest }
    }

    mutating func add(_ later: LargestValues) {
        for (value, size) in later.candidates { add(value, size: size) }
    }

    private var largest: [(value: Value, size: Int)] {
        let sorted = candidates.enumerated().sorted {
            ($1.element.size, $0.offset) < ($0.element.size, $1.offset)
        }
        return sorted.prefix(limit).map(\.element)
    }

    /// The largest values, in descending order of their sizes.
    public var values: [Value] { largest.map(\.value) }
}

/// A row of the table `gaps`: a gap, a repetition or a restart of a sequence.
public struct GapRow: Sendable, Equatable {
    /// The reason why numbers do not follow one another.
    public enum Reason: String, Sendable, CaseIterable {
        /// No record has the numbers.
        case missing
        /// Several different records have the same number.
        case repeated
        /// The sequence starts again.
        case restart
    }

    /// The system of the sequence.
    public let system: SystemName
    /// The type of the records in the sequence.
    public let type: String
    /// The id of the client that the sequence belongs to.
    public let client: String
    /// The number of the run in the sequence, starting at 1, or the number of the new run for a restart.
    public let run: Int
    /// The reason for the row.
    public let reason: Reason
    /// The missing or repeated numbers, or `nil` for a restart.
    public let numbers: ClosedRange<Int64>?
    /// The number of missing numbers or additional records, or 0 for a restart.
    public let count: Int
    /// The highest present number before the gap or, for a restart, in the preceding run, or `nil` for a repetition.
    public let numberBefore: Int64?
    /// The lowest present number after the gap or, for a restart, in the new run, or `nil` for a repetition.
    public let numberAfter: Int64?
    /// The time before the gap or restart, or the earliest time of a repeated number.
    ///
    /// This is the time of the record before the gap, the latest time in the run before the restart, or the earliest
    /// time of any record with a repeated number. The value is `nil` if none of these records has a time.
    public let timeBefore: Timestamp?
    /// The time after the gap or restart, or the latest time of a repeated number.
    ///
    /// This is the time of the record after the gap, the earliest time in the run after the restart, or the latest time
    /// of any record with a repeated number. The value is `nil` if none of these records has a time.
    public let timeAfter: Timestamp?
}

extension NumberedSequence {
    /// Calls `body` with the gaps, the repetitions and the restarts of the sequence.
    func forEachGap(_ body: (GapRow) throws -> Void) rethrows {
        for (index, run) in runs.enumerated() {
            if index > 0 {
                let previous = runs[index - 1]
                try body(
                    row(
                        run: index, .restart, nil, count: 0, previous.present.last?.upperBound,
                        run.present.first?.lowerBound, previous.lastTime, run.firstTime))
            }
            for gap in run.missing {
                try body(
                    row(
                        run: index, .missing, gap.numbers, count: gap.numbers.sequenceCount,
                        gap.numbers.lowerBound - 1, gap.numbers.upperBound + 1, gap.timeBefore, gap.timeAfter))
            }
            for repetition in run.repeated {
                try body(
                    row(
                        run: index, .repeated, repetition.numbers, count: repetition.extraCount, nil, nil,
                        repetition.firstTime, repetition.lastTime))
            }
        }
    }

    private func row(
        run: Int, _ reason: GapRow.Reason, _ numbers: ClosedRange<Int64>?, count: Int, _ numberBefore: Int64?,
        _ numberAfter: Int64?, _ timeBefore: Timestamp?, _ timeAfter: Timestamp?
    ) -> GapRow {
        GapRow(
            system: system, type: type, client: client, run: run + 1, reason: reason, numbers: numbers, count: count,
            numberBefore: numberBefore, numberAfter: numberAfter, timeBefore: timeBefore, timeAfter: timeAfter)
    }
}
