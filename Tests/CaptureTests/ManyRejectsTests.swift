import Bundle
import Files
import Telemetry
import Testing

@testable import Capture

/// Tests that many rejects of a store are passed on in batches and never kept as a whole.
@Suite struct ManyRejectsTests {
    /// The maximum number of rejects in an output, including the group of spans that fills it.
    private static let maximumInOutput = ScanOutput.sizeGoal / ScanOutput.detailSize + 1024

    private func hash(_ text: String) -> String { PayloadHash.hex(of: Array(text.utf8)) }

    private func outputs(of log: RequestLog) async throws -> [ScanOutput] {
        var outputs: [ScanOutput] = []
        try await log.read(input: 0, ScanOptions(), limit: JobLimit(jobs: 2)) { outputs.append($0) }
        return outputs
    }

    private func check(_ outputs: [ScanOutput], are texts: [String]) {
        #expect(outputs.allSatisfy { $0.quarantined.count <= Self.maximumInOutput })
        let items = outputs.flatMap(\.quarantined)
        #expect(items.count == texts.count)
        #expect(zip(items, texts).allSatisfy { $0.sha256 == hash($1) && $0.size == $1.utf8.count })
    }

    @Test("Lines that are not JSON are rejected")
    func lines() async throws {
        let lines = (0..<10_000).map { "junk \($0)" }
        let source = ByteSource(Array(lines.joined(separator: "\n").utf8))
        check(try await outputs(of: RequestLog(source, kind: .lines, label: "x", path: "a.ndjson")), are: lines)
    }

    @Test("Entries of an HTTP archive that are not requests are rejected, and so is its truncated end")
    func entries() async throws {
        let entries = (0..<9000).map { #"{"n":\#($0)}"# }
        let text = #"{"log":{"entries":["# + entries.joined(separator: ", ") + ", oops"
        let found = try await outputs(
            of: RequestLog(ByteSource(Array(text.utf8)), kind: .httpArchive, label: "x", path: "a.har"))
        check(found, are: entries + ["oops"])
    }

    @Test(
        "The number of rejected items in a log is limited, and the rest is reported as a loss",
        arguments: [true, false])
    func limit(areLines: Bool) async throws {
        let lines = String(repeating: "x\n", count: 20_000)
        let entries = #"{"log":{"entries":["# + String(repeating: "1,", count: 20_000) + "1]}}"
        // A request without a response causes the log to be read ahead.
        let request =
            #"{"url":"https://api.leanplum.com/api","status":500,"body":{"data":[{"action":"start"}]}}"# + "\n"
        let text = areLines ? request + lines : entries
        let source = ByteSource(Array(text.utf8))
        let found = try await outputs(
            of: RequestLog(source, kind: areLines ? .lines : .httpArchive, label: "x", path: "a"))
        let items = found.flatMap(\.quarantined)
        let limit = 10_000 + text.utf8.count / 16
        #expect(items.count == limit)
        let problems = found.flatMap(\.problems).map(\.problem)
        #expect(problems.map(\.code) == [areLines ? "line_limit" : "entry_limit"])
        #expect(problems.first?.isLoss == true)
        #expect(problems.first?.text.hasPrefix("more than \(limit) ") == true)
        #expect(problems.first?.offset == items.last?.reject.offset.map { $0 + 2 })
        #expect(found.map(\.entries.count).reduce(0, +) == (areLines ? 1 : 0))
    }

    @Test("Spans in order are hashed in one pass, and a span before them requires another pass")
    func passes() throws {
        let text = String(repeating: "0123456789", count: 100_000)
        var hashes = SpanHasher(of: ByteSource(Array(text.utf8)))
        for group in 0..<50 {
            let start = group * 20_000
            let spans = try hashes.hash(
                (0..<10).map { SpanReject(reason: "x", start: start + $0 * 2000, end: start + $0 * 2000 + 1000) })
            #expect(spans.allSatisfy { $0.sha256 == hash(String(repeating: "0123456789", count: 100)) })
        }
        #expect(hashes.passes == 1)
        #expect(try hashes.hash([SpanReject(reason: "x", start: nil, end: nil)]).map(\.sha256) == [hash(text)])
        #expect(hashes.passes == 2)
        let last = try hashes.hash([SpanReject(reason: "x", start: 999_995, end: nil)])
        #expect(last.map(\.sha256) == [hash("56789")])
    }

    @Test("Elements of a ping array that are not pings are rejected", arguments: [1, 4])
    func elements(jobs: Int) async throws {
        let folder = try CaptureFolder()
        let elements = (0..<10_000).map { "[\($0)]" }
        try folder.put("Documents/MozTelemetry-Default-core.json", "[" + elements.joined(separator: ",") + "]")
        try folder.put("\(corePings)/-t-1.json", CaptureFolder.ping(1))
        var outputs: [ScanOutput] = []
        let reader = CaptureReader([.folder(try await folder.open())], jobs: jobs)
        try await reader.read(0) { outputs.append($0) }
        check(outputs, are: elements)
        #expect(outputs.map(\.entries.count).reduce(0, +) == 1)
    }
}
