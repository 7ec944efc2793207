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
    private func isFull(of sizes: Int...) throws -> Bool {
        var output = ScanOutput(capture: "c")
        for (index, size) in sizes.enumerated() { try output.add(record(index, size: size)) }
        return output.isFull
    }

    @Test("Payloads fill an output.")
    func payloads() throws {
        #expect(try !isFull(of: ScanOutput.sizeGoal / 2))
        #expect(try isFull(of: ScanOutput.sizeGoal / 2, ScanOutput.sizeGoal / 2))
        #expect(try isFull(of: ScanOutput.sizeGoal))
    }

    @Test("Many small records fill an output, because a record counts more than its payload.")
    func records() throws {
        var output = ScanOutput(capture: "c")
        var count = 0
        while !output.isFull, count < 10_000 {
            try output.add(record(count, size: 1))
            count += 1
        }
        #expect((2000...5000).contains(count))
    }

    @Test("Notes fill an output, because they can exceed the payload.")
    func notes() throws {
        var output = ScanOutput(capture: "c")
        let notes = Array(repeating: String(repeating: "x", count: 1000), count: 100)
        var count = 0
        while !output.isFull {
            try output.add(record(count, size: 0, notes: notes))
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
    func details() throws {
        var output = ScanOutput(capture: "c")
        var count = 0
        while !output.isFull {
            if count % 2 == 0 {
                output.report(Problem("odd", "x"), path: "p")
            } else {
                try output.reject(Reject("P2 x"))
            }
            count += 1
        }
        #expect(count == 4096)
        #expect(output.problems.allSatisfy { $0.capture == "c" && $0.path == "p" })
    }

    private func file(_ path: String, _ contents: [UInt8]) -> OpenFile {
        OpenFile(StoreFile(name: [], path: path, kind: kind), contents: .bytes(contents))
    }

    @Test("Records, problems and rejects of a file are kept in their order.")
    func orderOfFindings() throws {
        var output = ScanOutput(capture: "c")
        var files = [file("f", [1]), file("g", [2])]
        try output.withFile(&files[0]) { output in
            for index in 0..<3 { try output.add(record(index, size: 1)) }
            output.report(Problem("a", "1"))
        }
        try output.withFile(&files[1]) { output in
            output.report(Problem("b", "2"))
            try output.reject(Reject("P2 x"))
            try output.reject(Reject("P3 y"))
        }
        #expect(output.entries.count == 3)
        #expect(output.problems.map { "\($0.path) \($0.problem.code)" } == ["f a", "g b"])
        #expect(output.quarantined.map { "\($0.path) \($0.reject.reason)" } == ["g P2 x", "g P3 y"])
        #expect(files.map(\.isQuarantined) == [false, true])
        output.removeAll()
        #expect(output.entries.isEmpty && output.problems.isEmpty && output.quarantined.isEmpty)
    }

    @Test("Written records have their part of the store, their line and their app.")
    func written() throws {
        var options = ScanOptions()
        options.reportsQueues = true
        var output = ScanOutput(capture: "c", input: 3, writingWith: options)
        output.store = 7
        var app = record(0, size: 1)
        app.app = App(id: "a.b", version: "1")
        try output.add(app, part: 2)
        try output.add(record(1, size: 1), part: 2)
        try output.add(record(2, size: 1), part: 0)
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
        try output.add(untyped)
        var other = record(1, size: 1)
        other.type = "z"
        try output.add(other)
        try output.add(record(2, size: 1))
        #expect(output.entries.map(\.summary.type) == ["", "y"])
        #expect(output.entries.map(\.summary.holds) == [["schema"], []])
    }

    @Test("Each span and each file in quarantine has its own hash.")
    func hashes() throws {
        var output = ScanOutput(capture: "c")
        for var file in [file("a", [1, 2, 3]), file("b", [4, 5, 6])] {
            try output.withFile(&file) { output in
                for reject in [Reject("x"), Reject("y", offset: 2), Reject("z", offset: 1, length: 1), Reject("x")] {
                    try output.reject(reject)
                }
            }
        }
        let spans: [[UInt8]] = [[1, 2, 3], [1, 2, 3], [2], [1, 2, 3], [4, 5, 6], [4, 5, 6], [5], [4, 5, 6]]
        #expect(output.quarantined.map(\.sha256) == spans.map { PayloadHash.hex(of: $0) })
        #expect(output.quarantined.map(\.size) == spans.map(\.count))
    }

    @Test("Rejects are added until the output is full.")
    func manyRejects() throws {
        var output = ScanOutput(capture: "c")
        var rejects = (0..<5000).map { Reject("x", offset: $0, length: 0) }[...]
        #expect(try output.reject(&rejects))
        #expect(output.quarantined.map(\.reject.offset) == (0..<4096).map { $0 })
        output.removeAll()
        #expect(try !output.reject(&rejects))
        #expect(output.quarantined.count == 5000 - 4096)
    }

    @Test("Removing all findings keeps the name of the capture.")
    func removal() throws {
        var output = ScanOutput(capture: "c")
        try output.add(record(0, size: ScanOutput.sizeGoal))
        output.report(StoreReport(facts: ["x"]))
        output.bytesRead = 7
        output.removeAll()
        #expect(!output.isFull && output.entries.isEmpty && output.reports.isEmpty && output.bytesRead == 0)
        output.report(Problem("odd", "x"), path: "p")
        #expect(output.problems.map(\.capture) == ["c"])
    }
}
