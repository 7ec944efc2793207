import Bytes
import TestSupport
import Testing

@testable import Export

/// Tests that the work for a sequence is proportional to the number of its records, even with many restarts.
@Suite struct SequenceGrowthTests {
    /// Returns the number of records and runs that are visited to split a sequence.
    private func work(timed: [Int64], untimed: [Int64]) -> Int {
        var records = untimed.map { NumberedTime(number: $0, milliseconds: NumberedTime.unknownTime) }
        records += timed.enumerated().map { NumberedTime(number: $1, milliseconds: Int64(1000 * $0)) }
        var work = WorkBudget()
        let runs = SequenceRun.runs(of: records, startingWith: 1...1, charging: &work)
        #expect(runs.reduce(0) { $0 + $1.recordCount } == records.count)
        return work.nodeCount
    }

    @Test("Splitting grows with the number of restarts and of records without a time")
    func restarts() {
        expectLinearGrowth(of: "restarts, and records without a time in no run", from: 500) { count in
            work(timed: (0..<count).map { Int64(1 + $0 % 2) }, untimed: (0..<count).map { Int64(3 + $0) })
        }
        expectLinearGrowth(of: "restarts, and records without a time in the first run", from: 500) { count in
            let first = Int64(count)
            return work(
                timed: [1, first] + (0..<count).map { Int64(1 + $0 % 2) }, untimed: (0..<count).map { Int64(3 + $0) })
        }
        expectLinearGrowth(of: "runs that contain each other, and records without a time in them", from: 500) { count in
            let highest = (0..<count).map { Int64(2 * (count - $0) + 2) }
            return work(timed: highest.flatMap { [1, $0] }, untimed: (0..<count).map { Int64(2 + 2 * $0) })
        }
        expectLinearGrowth(of: "records", from: 500) { count in work(timed: (1...Int64(count)).map(\.self), untimed: [])
        }
    }

    /// The rule is applied to each record separately, which takes quadratic time.
    @Test("A record without a time belongs to the last run that contains its number")
    func assignment() {
        var generator = SeededGenerator(seed: 59)
        for _ in 0..<200 {
            let timed = (0..<Int.random(in: 1...12, using: &generator)).map { _ in
                Int64.random(in: 1...9, using: &generator)
            }
            let untimed = (0..<Int.random(in: 0...9, using: &generator)).map { _ in
                Int64.random(in: 0...11, using: &generator)
            }
            let times = timed.enumerated().map { NumberedTime(number: $1, milliseconds: Int64(1000 * $0)) }
            let runs = SequenceRun.runs(of: times, startingWith: 1...1)
            let ranges = runs.map { run in
                (run.present.first?.lowerBound ?? 0)...(run.present.last?.upperBound ?? 0)
            }
            var expected = runs.map(\.recordCount)
            for number in untimed { expected[ranges.lastIndex { $0.contains(number) } ?? ranges.count - 1] += 1 }
            let all = times + untimed.map { NumberedTime(number: $0, milliseconds: NumberedTime.unknownTime) }
            #expect(SequenceRun.runs(of: all, startingWith: 1...1).map(\.recordCount) == expected)
        }
    }
}
