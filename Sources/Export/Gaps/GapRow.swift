import Telemetry

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
