import Telemetry
import TestSupport
import Testing

@testable import Export

/// Tests of the division of a sequence into runs, and of the gaps of a run.
@Suite struct SequenceRunTests {
    /// A sequence of numbers in the order of time, and its expected runs.
    struct Case: Sendable, CustomTestStringConvertible {
        let numbers: [Int64]
        /// The present ranges of each run.
        let runs: [[ClosedRange<Int64>]]
        var start: ClosedRange<Int64> = 1...1

        var testDescription: String { "\(numbers)" }
    }

    private static let cases = [
        Case(numbers: [7], runs: [[7...7]]),
        Case(numbers: [1, 2, 3], runs: [[1...3]]),
        Case(numbers: [1, 3, 4, 9], runs: [[1...1, 3...4, 9...9]]),
        // Records whose order differs from that of their numbers.
        Case(numbers: [5, 3, 4, 8, 6], runs: [[3...6, 8...8]]),
        // Restarts.
        Case(numbers: [4, 5, 1, 2], runs: [[4...5], [1...2]]),
        Case(numbers: [1, 2, 3, 1, 3], runs: [[1...3], [1...1, 3...3]]),
        Case(numbers: [40, 41, 1, 2, 5, 1], runs: [[40...41], [1...2, 5...5], [1...1]]),
        Case(numbers: [1, 2, 1, 2, 1, 2], runs: [[1...2], [1...2], [1...2]]),
        Case(numbers: [8, 9, 0, 1], runs: [[8...9], [0...1]], start: 0...1),
        Case(numbers: [8, 9, 1, 2], runs: [[8...9], [1...2]], start: 0...1),
        // A lower number with which no sequence starts is not a restart.
        Case(numbers: [4, 5, 2, 3], runs: [[2...5]]),
        Case(numbers: [4, 5, 1, 2], runs: [[1...2, 4...5]], start: 0...0),
        // The clock was wrong when the first record was made.
        Case(numbers: [2, 3, 4, 1, 5, 6], runs: [[1...6]]),
        Case(numbers: [1, 0, 2], runs: [[0...2]], start: 0...0),
        // The largest numbers.
        Case(numbers: [.max], runs: [[.max ... .max]]),
        Case(numbers: [.max, .max - 1, 0], runs: [[.max - 1 ... .max], [0...0]], start: 0...0),
    ]

    private func runs(_ records: [NumberedTime], start: ClosedRange<Int64> = 1...1) -> [SequenceRun] {
        SequenceRun.runs(of: records, startingWith: start)
    }

    /// Returns records whose times follow one another.
    private func records(_ numbers: [Int64]) -> [NumberedTime] {
        numbers.enumerated().map { NumberedTime(number: $1, milliseconds: Int64($0) * 1000) }
    }

    @Test(arguments: cases) func runsOfSequence(_ item: Case) {
        let found = runs(records(item.numbers), start: item.start)
        #expect(found.map(\.present) == item.runs)
        #expect(found.reduce(0) { $0 + $1.recordCount } == item.numbers.count)
        var generator = SeededGenerator(seed: 1)
        #expect(runs(records(item.numbers).shuffled(using: &generator), start: item.start) == found)
    }

    @Test func noRecords() { #expect(runs([]) == []) }

    @Test func gapsHaveTheTimesAroundThem() {
        let found = runs(records([1, 2, 5, 7]))
        #expect(
            found.first?.missing == [
                SequenceGap(
                    numbers: 3...4, timeBefore: Timestamp(milliseconds: 1000), timeAfter: Timestamp(milliseconds: 2000)),
                SequenceGap(
                    numbers: 6...6, timeBefore: Timestamp(milliseconds: 2000), timeAfter: Timestamp(milliseconds: 3000)),
            ])
        #expect(found.first?.firstTime == Timestamp(milliseconds: 0))
        #expect(found.first?.lastTime == Timestamp(milliseconds: 3000))
    }

    @Test func repeatedNumbersAreCounted() {
        let found = runs(records([2, 2, 3, 3, 3, 4, 6, 6]))
        #expect(found.count == 1)
        #expect(found.first?.present == [2...4, 6...6])
        #expect(
            found.first?.repeated == [
                RepeatedNumbers(
                    numbers: 2...3, extraCount: 3, firstTime: Timestamp(milliseconds: 0),
                    lastTime: Timestamp(milliseconds: 4000)),
                RepeatedNumbers(
                    numbers: 6...6, extraCount: 1, firstTime: Timestamp(milliseconds: 6000),
                    lastTime: Timestamp(milliseconds: 7000)),
            ])
    }

    @Test func equalTimesAreNoRestart() {
        let found = runs([5, 1, 3].map { NumberedTime(number: $0, milliseconds: 7) })
        #expect(found.map(\.present) == [[1...1, 3...3, 5...5]])
    }

    @Test func recordsWithoutTimeJoinTheRunAroundThem() {
        func untimed(_ numbers: Int64...) -> [NumberedTime] {
            numbers.map { NumberedTime(number: $0, milliseconds: NumberedTime.unknownTime) }
        }
        #expect(runs(untimed(9, 1, 3)).map(\.present) == [[1...1, 3...3, 9...9]])
        #expect(runs(untimed(1)).first?.firstTime == nil)
        #expect(runs(records([40, 42, 1, 3]) + untimed(41, 2)).map(\.present) == [[40...42], [1...3]])
        #expect(runs(records([40, 42, 1, 3]) + untimed(4)).map(\.present) == [[40...40, 42...42], [1...1, 3...4]])
        let gap = runs(records([1]) + untimed(3)).first?.missing.first
        #expect(gap == SequenceGap(numbers: 2...2, timeBefore: Timestamp(milliseconds: 0), timeAfter: nil))
    }

    @Test func countsDoNotOverflow() {
        #expect((Int64(0) ... .max).sequenceCount == .max)
        #expect((Int64(1) ... .max).sequenceCount == .max)
        #expect((Int64(3)...3).sequenceCount == 1)
    }

    /// Compares the runs of random sequences without restarts with sets.
    @Test(arguments: 0..<20) func randomSequence(seed: Int) {
        var generator = SeededGenerator(seed: UInt64(seed))
        let numbers = (0..<200).map { _ in Int64.random(in: 2...300, using: &generator) }
        let found = runs(records(numbers))
        #expect(found.count == 1)
        let present = Set(numbers)
        let missing = Set((present.min() ?? 0)...(present.max() ?? 0)).subtracting(present)
        #expect(Set(found[0].present.flatMap(\.self)) == present)
        #expect(found[0].missing.flatMap(\.numbers) == missing.sorted())
        #expect(found[0].repeated.reduce(0) { $0 + $1.extraCount } == numbers.count - present.count)
    }
}
