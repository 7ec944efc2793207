import Bytes
import Telemetry

/// A range of sequence numbers that are missing from a run.
public struct SequenceGap: Sendable, Equatable {
    /// The missing numbers.
    public let numbers: ClosedRange<Int64>
    /// The time of the record with the preceding number, or `nil` if the record has no time.
    public let timeBefore: Timestamp?
    /// The time of the record with the following number, or `nil` if the record has no time.
    public let timeAfter: Timestamp?
}

/// A range of sequence numbers, each of which belongs to several different records.
public struct RepeatedNumbers: Sendable, Equatable {
    /// The repeated numbers.
    public let numbers: ClosedRange<Int64>
    /// The number of records that repeat a number, excluding the first record with each number.
    public let extraCount: Int
    /// The earliest time of any record with a repeated number, or `nil` if no such record has a time.
    public let firstTime: Timestamp?
    /// The latest time of any record with a repeated number, or `nil` if no such record has a time.
    public let lastTime: Timestamp?
}

/// The records of a sequence between two restarts.
///
/// A sequence restarts when its number falls back to the start while time goes on, for example because the app was
/// installed again.
public struct SequenceRun: Sendable, Equatable {
    /// The ranges of present numbers in ascending order, separated by ``missing``.
    public private(set) var present: [ClosedRange<Int64>] = []
    /// The gaps between present numbers in ascending order.
    public private(set) var missing: [SequenceGap] = []
    /// The ranges of numbers that several records have, in ascending order.
    public private(set) var repeated: [RepeatedNumbers] = []
    /// The number of records in the run.
    public let recordCount: Int
    /// The earliest time of any record in the run, or `nil` if no record has a time.
    public private(set) var firstTime: Timestamp?
    /// The latest time of any record in the run, or `nil` if no record has a time.
    public private(set) var lastTime: Timestamp?

    /// Creates a run of at least one record.
    init(_ records: some Collection<NumberedTime>) {
        let sorted = records.sorted { ($0.number, $0.milliseconds) < ($1.number, $1.milliseconds) }
        recordCount = sorted.count
        var index = 0
        var before: NumberedTime?
        while index < sorted.endIndex {
            let first = sorted[index]
            var last = first
            var earliest: Timestamp?
            var count = 0
            while index < sorted.endIndex, sorted[index].number == first.number {
                last = sorted[index]
                earliest = earliest ?? last.time
                count += 1
                index += 1
            }
            add(first, after: before)
            if count > 1 { addRepetition(of: first.number, extraCount: count - 1, earliest, last.time) }
            if let time = earliest { firstTime = min(firstTime ?? time, time) }
            if let time = last.time { lastTime = max(lastTime ?? time, time) }
            before = first
        }
    }

    private mutating func add(_ record: NumberedTime, after before: NumberedTime?) {
        guard let before else { return present.append(record.number...record.number) }
        // Numbers are sorted and distinct, so neither the sum nor the difference overflows.
        if record.number == before.number + 1 {
            let range = present.removeLast()
            present.append(range.lowerBound...record.number)
        } else {
            let gap = before.number + 1...record.number - 1
            missing.append(SequenceGap(numbers: gap, timeBefore: before.time, timeAfter: record.time))
            present.append(record.number...record.number)
        }
    }

    private mutating func addRepetition(
        of number: Int64, extraCount: Int, _ earliest: Timestamp?, _ latest: Timestamp?
    ) {
        guard let previous = repeated.last, previous.numbers.upperBound + 1 == number else {
            return repeated.append(
                RepeatedNumbers(
                    numbers: number...number, extraCount: extraCount, firstTime: earliest, lastTime: latest))
        }
        repeated[repeated.count - 1] = RepeatedNumbers(
            numbers: previous.numbers.lowerBound...number, extraCount: previous.extraCount + extraCount,
            firstTime: [previous.firstTime, earliest].compactMap(\.self).min(),
            lastTime: [previous.lastTime, latest].compactMap(\.self).max())
    }
}

/// The sequence number and the time of a record.
struct NumberedTime: Sendable, Equatable {
    /// The value of ``milliseconds`` for a record without a time.
    ///
    /// It sorts before all times.
    static let unknownTime = Int64.min

    let number: Int64
    /// The time in milliseconds since 1970, or ``unknownTime``.
    let milliseconds: Int64

    var time: Timestamp? { Timestamp(inAnyYear: milliseconds) }
}

extension SequenceRun {
    /// Splits the records of a sequence into runs, in chronological order.
    ///
    /// A record starts a new run if it is later than the preceding record, and if its number is at most
    /// `start.upperBound` and lower than the highest number of the current run. An exception is a record whose number
    /// is below the lowest number of the run, if the next record has a number above the highest number of the run. In
    /// this case, only the time of the record is wrong.
    ///
    /// A record without a time belongs to the last run whose range of numbers contains its number or, if there is none,
    /// to the last run.
    static func runs(of records: [NumberedTime], startingWith start: ClosedRange<Int64>) -> [SequenceRun] {
        var work = WorkBudget()
        return runs(of: records, startingWith: start, charging: &work)
    }

    /// Splits the records of a sequence into runs, and charges the records and runs that are visited to `work`.
    static func runs(
        of records: [NumberedTime], startingWith start: ClosedRange<Int64>, charging work: inout WorkBudget
    ) -> [SequenceRun] {
        guard !records.isEmpty else { return [] }
        let records = records.sorted { ($0.milliseconds, $0.number) < ($1.milliseconds, $1.number) }
        let firstTimed = records.firstIndex { $0.milliseconds != NumberedTime.unknownTime } ?? records.endIndex
        let parts = Self.parts(of: records[firstTimed...], startingWith: start)
        var runs = parts.isEmpty ? [[]] : parts.map { records[$0.indices] }
        let owners = Self.owners(of: records[..<firstTimed], among: parts.map(\.numbers), charging: &work)
        for (record, part) in zip(records[..<firstTimed], owners) { runs[part ?? runs.count - 1].append(record) }
        work.charge(nodes: records.count)
        return runs.map { SequenceRun($0) }
    }

    /// Returns the index of the last of `ranges` that contains the number of each record, or `nil` if none contains it.
    ///
    /// `records` is sorted by number. The ranges are visited from the last to the first, and each record is assigned
    /// only once. Because ranges overlap, searching the ranges for each record could take quadratic time.
    private static func owners(
        of records: ArraySlice<NumberedTime>, among ranges: [ClosedRange<Int64>], charging work: inout WorkBudget
    ) -> [Int?] {
        var owners = [Int?](repeating: nil, count: records.count)
        // For each record, the index of a record at or after it. Following the indices leads to the first record that
        // is not assigned, or to the end.
        var nextIndices = Array(0...records.count)
        for (part, range) in ranges.enumerated().reversed() {
            let first = records.indices.partitioningIndex { records[$0].number >= range.lowerBound }
            var index = Self.firstUnassigned(from: first - records.startIndex, &nextIndices, &work)
            while index < records.count, records[records.startIndex + index].number <= range.upperBound {
                owners[index] = part
                nextIndices[index] = index + 1
                index = Self.firstUnassigned(from: index + 1, &nextIndices, &work)
            }
        }
        return owners
    }

    /// Returns the index of the first unassigned record at or after `start`.
    ///
    /// The indices on the way are shortened, so that all searches together take almost linear time.
    private static func firstUnassigned(
        from start: Int, _ nextIndices: inout [Int], _ work: inout WorkBudget
    ) -> Int {
        var end = start
        while nextIndices[end] != end { end = nextIndices[end] }
        var index = start
        work.charge(nodes: 1)
        while nextIndices[index] != end, index != end {
            work.charge(nodes: 1)
            let next = nextIndices[index]
            nextIndices[index] = end
            index = next
        }
        return end
    }

    /// A run, as a range of a list of records that is sorted by time.
    private struct TimeSpan {
        var indices: Range<Int>
        /// The range from the lowest to the highest number.
        var numbers: ClosedRange<Int64>
    }

    private static func parts(
        of records: ArraySlice<NumberedTime>, startingWith start: ClosedRange<Int64>
    ) -> [TimeSpan] {
        var parts: [TimeSpan] = []
        for index in records.indices {
            let record = records[index]
            guard let part = parts.last, !isRestart(at: index, of: records, after: part, startingWith: start) else {
                parts.append(TimeSpan(indices: index..<index + 1, numbers: record.number...record.number))
                continue
            }
            let (lowest, highest) = (part.numbers.lowerBound, part.numbers.upperBound)
            parts[parts.count - 1] = TimeSpan(
                indices: part.indices.lowerBound..<index + 1,
                numbers: min(lowest, record.number)...max(highest, record.number))
        }
        return parts
    }

    private static func isRestart(
        at index: Int, of records: ArraySlice<NumberedTime>, after part: TimeSpan,
        startingWith start: ClosedRange<Int64>
    ) -> Bool {
        let record = records[index]
        guard record.number <= start.upperBound, record.number < part.numbers.upperBound,
            record.milliseconds > records[index - 1].milliseconds
        else { return false }
        let isLast = index + 1 == records.endIndex
        return part.numbers.contains(record.number) || isLast || records[index + 1].number <= part.numbers.upperBound
    }
}

extension ClosedRange<Int64> {
    /// The number of sequence numbers in the range, or the maximum integer on overflow.
    public var sequenceCount: Int {
        let (count, hasOverflowed) = (upperBound &- lowerBound).addingReportingOverflow(1)
        return hasOverflowed ? .max : Int(count)
    }
}
