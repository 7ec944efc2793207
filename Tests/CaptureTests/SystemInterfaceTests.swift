import Files
import JSONText
import Systems
import Telemetry
import TestSupport
import Testing

@testable import Capture

/// Tests of the interface between this module and the systems, with an artificial system.
@Suite struct SystemInterfaceTests {
    private func records(_ text: String, kind: RequestLogKind) async throws -> [Record] {
        let log = RequestLog(
            ByteSource(Array(text.utf8)), kind: kind, label: "c", path: "p", systems: ProbeSystem.table)
        var records: [Record] = []
        var document = JSONDocument()
        try await log.read(input: 0, ScanOptions(), limit: JobLimit(jobs: 2)) { output in
            for entry in output.entries {
                let line = Array(output.lines[entry.line].dropLast())
                records.append(try Record(line: line, using: &document, knowing: ProbeSystem.table))
            }
        }
        return records
    }

    private static let url = "https://probe.example/submit/hello/1"

    /// Header fields as logs contain them, and the fields that the system receives.
    private static let headers: [(String, [String])] = [
        (#"[{"name":"Cookie","value":"SECRET"},{"name":"x-TAG","value":"test"}]"#, ["x-TAG: test"]),
        (#"[["Cookie","SECRET"],["X-Tag","test"]]"#, ["X-Tag: test"]),
        (#"[{"name":"X-Tag","value":"a"},{"name":"X-Tag","value":"b"}]"#, ["X-Tag: a", "X-Tag: b"]),
        (#"[{"name":"X-Tag","value":1},{"name":"X-Tag"},{"name":7,"value":"a"},"X-Tag"]"#, ["X-Tag: ", "X-Tag: "]),
        ("[]", []), ("null", []),
    ]

    @Test(
        "A system receives only the header fields that it requests from an entry of an HTTP archive", arguments: headers
    )
    func archive(headers: String, seen: [String]) async throws {
        let entry = #"""
            {"request":{"method":"POST","url":"\#(Self.url)","headers":\#(headers),"postData":{"text":"{}"}},\#
            "startedDateTime":"2020-03-02T13:00:00Z","response":{"status":500}}
            """#
        let found = try await records(#"{"log":{"version":"1.2","entries":[\#(entry)]}}"#, kind: .httpArchive)
        #expect(found.map { $0.notes.filter { $0.contains(":") } } == [seen])
        #expect(found.map(\.target?.headers.count) == [seen.count == 1 ? 1 : 0])
    }

    @Test(
        "A system receives only the header fields that it requests from a line of NDJSON, which may contain an object",
        arguments: headers + [(#"{"Authorization":"SECRET","X-tag":"test"}"#, ["X-tag: test"])])
    func lines(headers: String, seen: [String]) async throws {
        let line = #"{"url":"\#(Self.url)","headers":\#(headers),"body":{}}"#
        let found = try await records(line, kind: .lines)
        #expect(found.map(\.notes) == [seen])
    }

    @Test("A system can report a problem with an entry of a folder, which is then not reported again")
    func problems() async throws {
        let folder = try TemporaryFolder()
        try folder.put("x", "probe/odd/deep")
        let capture = try await CapturedFolder(
            path: folder.path, label: "c", systems: ProbeSystem.table, limit: JobLimit(jobs: 1))
        #expect(
            capture.problems == [
                LocatedProblem(
                    capture: "c", path: "probe/odd", problem: Problem("X19", "a folder where a file should be"))
            ])
    }

    @Test("A repeated id gets one note with the code of its system")
    func repeatedID() throws {
        func record(_ payload: String, notes: [String] = []) -> Record {
            Record(
                system: .probe, type: "hello", id: "1", payload: Array(payload.utf8),
                source: Source(capture: "c", path: "p", store: .harEntry, index: 0), notes: notes)
        }
        let records = [
            record("{}"), record(#"{"a":1}"#, notes: [#"P11 ["X23"#]),
            record(#"{"b":1}"#, notes: ["P11 ,", "X23 was"]),
        ]
        var output = ScanOutput(writingFor: 0)
        for record in records { try output.add(record) }
        var intake = Intake(ScanOptions(), keepsDetails: false, systems: ProbeSystem.table)
        var notes: [[String]] = []
        var document = JSONDocument()
        try intake.add(output, fromBundle: false) { _, line, _ in
            let record = try Record(line: Array(line.dropLast()), using: &document, knowing: ProbeSystem.table)
            notes.append(record.noteCodes)
        }
        #expect(notes == [[], ["X23", "P11"], ["P11", "X23"]])
    }
}
