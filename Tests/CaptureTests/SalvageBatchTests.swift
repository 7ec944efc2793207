import Bundle
import Files
import Parallel
import Systems
import Telemetry
import Testing

@testable import Capture

@Suite struct SalvageBatchTests {
    @Test("a segment of which no line can be read comes out in batches that stay small", arguments: [1, 50_000])
    func badLines(count: Int) async throws {
        let lines = [UInt8](String(repeating: "{}\n", count: count).utf8)
        let batches = try await Self.salvage("records/000001.ndjson", lines)
        #expect(batches.map(\.problems.count).max() ?? 0 <= 5000)
        // What is told besides: the end of the bundle is missing.
        #expect(batches.map(\.problems.count).reduce(0, +) == count + 1)
        #expect(batches.map(\.bytesRead).reduce(0, +) == lines.count)
    }

    @Test("a list of many lines comes out in batches that stay small")
    func details() async throws {
        let problem = PlacedProblem(capture: "phone", path: "p", problem: Problem("link", "x"))
        let line = problem.json.bytes + [UInt8(ascii: "\n")]
        let lines = [UInt8]((0..<20_000).map { _ in line }.joined()) + Array("no line of this list\n\n".utf8)
        let batches = try await Self.salvage("problems.ndjson", lines)
        #expect(batches.map(\.problems.count).max() ?? 0 <= 5000)
        #expect(batches.map(\.problems.count).reduce(0, +) == 20_000 + 1)
    }

    private static func salvage(_ name: String, _ contents: [UInt8]) async throws -> [Batch] {
        var encoder = try FrameEncoder(level: 1)
        let frame = try encoder.member(named: name, contents: contents.span).frames[0].bytes
        let bundle = SalvagedBundle(ByteSource(frame), path: "a.tar.zst", label: "a", systems: Systems.table)
        let options = HarvestOptions()
        var batches: [Batch] = []
        try await Harvest(.salvage(bundle), number: 0, options: options, limit: JobLimit(jobs: 1)).run {
            batches.append($0)
        }
        return batches
    }
}
