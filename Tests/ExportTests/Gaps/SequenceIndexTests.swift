import Bundle
import Mozilla
import Systems
import Telemetry
import TestSupport
import Testing

@testable import Export

/// Tests of the grouping of numbers into sequences, and of the summary of their gaps.
@Suite struct SequenceIndexTests {
    private static let placeholder = "c0ffeec0-ffee-c0ff-eec0-ffeec0ffeec0"

    /// The sequences of added records.
    private struct Sequences {
        var clients = ClientIndex()
        var index = SequenceIndex(Systems.table)

        mutating func add(
            _ number: SequenceNumber, client: String? = "C", type: String = "core", system: SystemName = .mozilla,
            minute: Int? = 0
        ) {
            let record = RecordSummary(
                Record(
                    system: system, type: type, id: "1", client: client, time: minute.map(Sample.time),
                    payload: Array("{}".utf8), source: Sample.source))
            index.add(number, of: record, client: clients.number(of: client, system: system))
        }

        mutating func add(expected number: Int64, client: String = "C", type: String = "core") {
            index.compareWithExpectedNumbers()
            index.add(expected: number, client: clients.number(of: client, system: .mozilla), type: type)
        }

        var all: [NumberedSequence] {
            var all: [NumberedSequence] = []
            index.forEachSequence(of: clients) { all.append($0) }
            return all
        }

        var rows: [GapRow] {
            var rows: [GapRow] = []
            for sequence in all { sequence.forEachGap { rows.append($0) } }
            return rows
        }

        func summary(limit: Int = 20) -> GapSummary {
            GapSummary(limit: limit) { body in index.forEachSequence(of: clients, body) }
        }
    }

    @Test func sequencesAreSeparatedBySystemClientAndType() {
        var sequences = Sequences()
        sequences.add(.number(1), client: "b", type: "focus-event")
        sequences.add(.number(2), client: "b", type: "core")
        sequences.add(.number(3), client: "A", type: "core")
        sequences.add(.number(4), client: "a", type: "core", system: SystemName("glean"))
        sequences.add(.number(4), client: "a", type: "core", minute: 1)
        let found = sequences.all
        #expect(
            found.map { "\($0.system) \($0.client) \($0.type)" } == [
                "glean a core", "mozilla A core", "mozilla b core", "mozilla b focus-event",
            ])
        #expect(found.map { $0.runs.map(\.present) } == [[[4...4]], [[3...4]], [[2...2]], [[1...1]]])
    }

    @Test func recordsWithoutSequenceAreCounted() {
        var sequences = Sequences()
        sequences.add(.unnumbered)
        sequences.add(.missing)
        sequences.add(.invalid)
        sequences.add(.invalid)
        sequences.add(.number(1), client: nil)
        sequences.add(.number(1), client: Self.placeholder)
        sequences.add(.number(2), client: Self.placeholder.uppercased())
        var expected = SequenceIndex.OmittedCounts()
        (expected.unnumbered, expected.missing, expected.invalid) = (1, 1, 2)
        (expected.withoutClient, expected.sharedClient) = (1, 2)
        #expect(sequences.index.omitted == expected)
        #expect(sequences.all == [])
    }

    @Test func rowsDescribeGapsRepetitionsAndRestarts() {
        var sequences = Sequences()
        for (minute, number) in [Int64](arrayLiteral: 40, 43, 43, 1, 2).enumerated() {
            sequences.add(.number(number), minute: minute)
        }
        let rows = sequences.rows
        #expect(rows.map(\.reason) == [.missing, .repeated, .restart])
        #expect(rows.map(\.run) == [1, 1, 2])
        #expect(rows.map(\.numbers) == [41...42, 43...43, nil])
        #expect(rows.map(\.count) == [2, 1, 0])
        #expect(rows.map(\.numberBefore) == [40, nil, 43])
        #expect(rows.map(\.numberAfter) == [43, nil, 1])
        #expect(rows.map(\.timeBefore) == [0, 1, 2].map { Sample.time($0) })
        #expect(rows.map(\.timeAfter) == [1, 2, 3].map { Sample.time($0) })
    }

    @Test func summaryHasTheLargestGapsFirst() {
        var sequences = Sequences()
        for (client, step) in [("a", 2), ("b", 5), ("c", 1), ("d", 9)] {
            for index in 0..<4 { sequences.add(.number(Int64(index * step + 1)), client: client, minute: index) }
        }
        let summary = sequences.summary(limit: 2)
        #expect(summary.sequenceCount == 4)
        #expect(summary.clientCount == 4)
        #expect(summary.incompleteCount == 3)
        #expect(summary.rowCount == 9)
        #expect(summary.totals.recordCount == 16)
        #expect(summary.totals.gapCount == 9)
        #expect(summary.totals.missingCount == 3 * (1 + 4 + 8))
        #expect(summary.largestSequences.values.map(\.client) == ["d", "b"])
        #expect(summary.largestRows.values.map(\.count) == [8, 8])
        #expect(summary.largestRows.values.map(\.numbers?.lowerBound) == [2, 11])
    }

    @Test func hugeGapsDoNotOverflow() {
        var sequences = Sequences()
        for client in ["a", "b", "c"] {
            sequences.add(.number(0), client: client)
            sequences.add(.number(.max), client: client, minute: 1)
        }
        #expect(sequences.summary().totals.missingCount == .max)
    }

    @Test func expectedNumbersAreCompared() {
        var sequences = Sequences()
        for (minute, number) in [Int64](arrayLiteral: 1, 2, 5, 9, 10).enumerated() {
            sequences.add(.number(number), minute: minute)
        }
        for number: Int64 in [2, 1, 3, 3, 3, 9, 12] { sequences.add(expected: number, client: "c") }
        for number: Int64 in [7, 5] { sequences.add(expected: number, client: "x") }
        sequences.add(.number(4), client: "y")
        let found = sequences.all
        #expect(found.map(\.client) == ["C", "x", "y"])
        #expect(found.map(\.runs.count) == [1, 0, 1])
        #expect(found.map { $0.comparison?.filled } == [[5...5, 10...10], [], [4...4]])
        #expect(found.map { $0.comparison?.open } == [[4...4, 6...8, 11...11], [6...6], []])
        #expect(found.map { $0.comparison?.expectedOnly } == [[3...3, 12...12], [5...5, 7...7], []])
        #expect(found.map { $0.comparison?.commonCount } == [3, 0, 0])
        #expect(found.map { $0.comparison?.repeatedRowCount } == [2, 0, 0])
        let totals = sequences.summary().comparisonTotals
        #expect(totals.commonCount == 3)
        #expect(totals.filledCount == 3)
        #expect(totals.openCount == 6)
        #expect(totals.expectedOnlyCount == 4)
        #expect(totals.repeatedRowCount == 2)
        #expect(sequences.summary().largestComparisons.values.map(\.client) == ["C", "x", "y"])
    }

    @Test func extremeNumbersAreCompared() {
        var sequences = Sequences()
        sequences.add(.number(.max))
        sequences.add(expected: 0)
        let comparison = sequences.all.first?.comparison
        #expect(comparison?.filled == [.max ... .max])
        #expect(comparison?.open.map(\.lowerBound) == [1])
        #expect(comparison?.open.map(\.upperBound) == [.max - 1])
        #expect(comparison?.expectedOnly == [0...0])
    }

    @Test("All of 100 planted gaps are found, and none is invented", arguments: 1...5)
    func plantedGaps(seed: Int) {
        var generator = SeededGenerator(seed: UInt64(seed))
        let types = ["core", "focus-event", "mobile-event"]
        var planted: [String] = []
        var sequences = Sequences()
        var records: [(client: String, type: String, number: Int64, minute: Int)] = []
        for client in 0..<20 {
            for (index, type) in types.enumerated() {
                let first = Int64.random(in: 1...5000, using: &generator)
                // Each gap is surrounded by present numbers, so that adjacent gaps do not merge.
                let gapCount = (client * types.count + index) % 3 == 0 ? 5 : 0
                let positions = (1...150).shuffled(using: &generator).prefix(gapCount).sorted()
                var gaps: [ClosedRange<Int64>] = []
                for position in positions {
                    let start = first + Int64(position) * 4
                    gaps.append(start...start + Int64.random(in: 0...2, using: &generator))
                }
                planted += gaps.map { "client-\(client) \(type) \($0)" }
                for number in first...first + 640 where !gaps.contains(where: { $0.contains(number) }) {
                    records.append(("client-\(client)", type, number, Int(number - first)))
                }
            }
        }
        #expect(planted.count == 100)
        for record in records.shuffled(using: &generator) {
            let client = Bool.random(using: &generator) ? record.client : record.client.uppercased()
            sequences.add(.number(record.number), client: client, type: record.type, minute: record.minute)
        }
        let rows = sequences.rows
        let found = rows.map { "\($0.client.lowercased()) \($0.type) \($0.numbers ?? 0...0)" }
        #expect(rows.allSatisfy { $0.reason == .missing })
        #expect(found.sorted() == planted.sorted())
        #expect(sequences.all.count == 60)
    }
}
