import Telemetry
import TestSupport
import Testing

/// Tests the findings that a scan collects before they are taken.
@Suite struct ScanOutputTests {
    private let kind = StoreKind("x")

    private func record(_ index: Int, size: Int, notes: [String] = []) -> Record {
        Record(
            system: SystemName("x"), type: "y", id: "z", payload: [UInt8](repeating: 0, count: size),
            source: Source(capture: "c", path: "p", store: kind, index: index), notes: notes)
    }

    /// Returns whether payloads of these sizes fill an output.
    ///
    /// The output is not used in `#expect`, which would print it.
    private func isFull(of sizes: Int...) -> Bool {
        var output = ScanOutput(capture: "c")
        for (index, size) in sizes.enumerated() { output.add(record(index, size: size)) }
        return output.isFull
    }

    @Test("Payloads fill an output.")
    func payloads() {
        #expect(!isFull(of: ScanOutput.sizeGoal / 2))
        #expect(isFull(of: ScanOutput.sizeGoal / 2, ScanOutput.sizeGoal / 2))
        #expect(isFull(of: ScanOutput.sizeGoal))
    }

    @Test("Many small records fill an output, because a record counts more than its payload.")
    func records() {
        var output = ScanOutput(capture: "c")
        var count = 0
        while !output.isFull, count < 10_000 {
            output.add(record(count, size: 1))
            count += 1
        }
        #expect((2000...5000).contains(count))
    }

    @Test("Notes fill an output, because they can exceed the payload.")
    func notes() {
        var output = ScanOutput(capture: "c")
        let notes = Array(repeating: String(repeating: "x", count: 1000), count: 100)
        var count = 0
        while !output.isFull {
            output.add(record(count, size: 0, notes: notes))
            count += 1
        }
        #expect((30...45).contains(count))
    }

    @Test("Records that another store contains are counted unless the filter excludes them.")
    func omittedDuplicates() {
        var filter = RecordFilter()
        filter.systems = [SystemName("x")]
        var output = ScanOutput(
            capture: "c", input: 0, writingWith: ScanOptions(filter: filter))
        var excluded = record(2, size: 1)
        excluded.system = SystemName("other")
        for duplicate in [record(0, size: 1), record(1, size: 1), excluded] { output.omit(duplicate: duplicate) }
        let (count, entries) = (output.duplicates, output.entries.count)
        #expect(count == 2 && entries == 0)
        output.removeAll()
        let rest = output.duplicates
        #expect(rest == 0)
    }

    @Test("Thousands of problems and rejects fill an output.")
    func details() {
        var output = ScanOutput(capture: "c")
        var count = 0
        while !output.isFull {
            if count % 2 == 0 {
                output.report(Problem("odd", "x"), path: "p")
            } else {
                output.quarantine(
                    Reject("P2 x"), of: [1], path: "p", kind: kind, carriesCredentials: false)
            }
            count += 1
        }
        #expect(count == 4096)
        #expect(output.problems.allSatisfy { $0.capture == "c" && $0.path == "p" })
    }

    @Test("Records, problems and rejects of a file are kept in their order.")
    func orderOfFindings() {
        var output = ScanOutput(capture: "c", path: "f")
        for index in 0..<3 { output.add(record(index, size: 1)) }
        output.report(Problem("a", "1"))
        output.path = "g"
        output.report(Problem("b", "2"))
        output.rejects.append(Reject("P2 x"))
        output.rejects.append(Reject("P3 y"))
        #expect(output.records.map(\.source.index) == [0, 1, 2])
        #expect(output.problems.map { "\($0.path) \($0.problem.code)" } == ["f a", "g b"])
        #expect(output.takeRejects() == [Reject("P2 x"), Reject("P3 y")])
        #expect(output.rejects.isEmpty && output.quarantined.isEmpty)
        output.removeAll()
        #expect(output.records.isEmpty && output.problems.isEmpty)
    }

    @Test("Written records have their part of the store, their line and their app.")
    func written() throws {
        var options = ScanOptions()
        options.reportsQueues = true
        var output = ScanOutput(capture: "c", input: 3, writingWith: options)
        output.store = 7
        var app = record(0, size: 1)
        app.app = App(id: "a.b", version: "1")
        output.add(app, part: 2)
        output.add(record(1, size: 1), part: 2)
        output.add(record(2, size: 1), part: 0)
        #expect(output.records.isEmpty)
        #expect(output.entries.map(\.input) == [3, 3, 3])
        #expect(output.entries.map { [$0.place?.store, $0.place?.part] } == [[7, 2], [7, 2], [7, 0]])
        #expect(output.apps.map(\.latest.app) == [App(id: "a.b", version: "1")])
        var line: [UInt8] = []
        record(1, size: 1).write(to: &line)
        #expect(Array(output.lines[output.entries[1].line]) == line)
        #expect(output.entries[2].line.upperBound == output.lines.count)
    }

    @Test("Excluded records are not written, and a record without a type is held.")
    func filter() throws {
        var options = ScanOptions()
        options.filter.types = ["", "y"]
        var output = ScanOutput(capture: "c", input: 0, writingWith: options)
        var untyped = record(0, size: 1)
        untyped.type = ""
        output.add(untyped)
        var other = record(1, size: 1)
        other.type = "z"
        output.add(other)
        output.add(record(2, size: 1))
        #expect(output.entries.map(\.summary.type) == ["", "y"])
        #expect(output.entries.map(\.summary.holds) == [["schema"], []])
    }

    @Test("The memory of the last payload is reused unless it is large.")
    func spareMemory() {
        var output = ScanOutput(capture: "c", input: 0, writingWith: ScanOptions())
        #expect(output.takeRecycledMemory().capacity == 0)
        output.add(record(0, size: 1000))
        let spare = output.takeRecycledMemory()
        #expect(spare.isEmpty && spare.capacity >= 1000)
        output.add(record(1, size: 1 << 20))
        #expect(output.takeRecycledMemory().capacity == 0)
    }

    @Test("Each span and each file in quarantine has its own hash.")
    func hashes() {
        var output = ScanOutput(capture: "c")
        let files: [(String, [UInt8])] = [("a", [1, 2, 3]), ("b", [4, 5, 6])]
        for (path, contents) in files {
            for reject in [Reject("x"), Reject("y", offset: 2), Reject("z", offset: 1, length: 1), Reject("x")] {
                output.quarantine(reject, of: contents, path: path, kind: kind, carriesCredentials: false)
            }
        }
        let spans: [[UInt8]] = [[1, 2, 3], [1, 2, 3], [2], [1, 2, 3], [4, 5, 6], [4, 5, 6], [5], [4, 5, 6]]
        #expect(output.quarantined.map(\.sha256) == spans.map { PayloadHash.hex(of: $0) })
        #expect(output.quarantined.map(\.size) == spans.map(\.count))
    }

    @Test("Removing all findings keeps the name of the capture.")
    func removal() {
        var output = ScanOutput(capture: "c")
        output.add(record(0, size: ScanOutput.sizeGoal))
        output.report(StoreReport(facts: ["x"]))
        output.bytesRead = 7
        output.removeAll()
        #expect(!output.isFull && output.records.isEmpty && output.reports.isEmpty && output.bytesRead == 0)
        output.report(Problem("odd", "x"), path: "p")
        #expect(output.problems.map(\.capture) == ["c"])
    }
}
