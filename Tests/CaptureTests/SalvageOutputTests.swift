import Bundle
import Files
import Systems
import Telemetry
import Testing

@testable import Capture

@Suite struct SalvageOutputTests {
    @Test("A segment without readable lines is split into small outputs", arguments: [1, 50_000])
    func badLines(count: Int) async throws {
        let lines = [UInt8](String(repeating: "{}\n", count: count).utf8)
        let outputs = try await Self.salvage("records/000001.ndjson", lines)
        #expect(outputs.map(\.problems.count).max() ?? 0 <= 5000)
        // The other report states that the end of the bundle is missing.
        #expect(outputs.map(\.problems.count).reduce(0, +) == count + 1)
        #expect(outputs.map(\.bytesRead).reduce(0, +) == lines.count)
    }

    @Test("A list with many lines is split into small outputs")
    func details() async throws {
        let problem = LocatedProblem(capture: "phone", path: "p", problem: Problem("link", "x"))
        let line = problem.json.bytes + [UInt8(ascii: "\n")]
        var lines = Array(repeating: line, count: 20_000).reduce(into: []) { $0 += $1 }
        lines += "no line of this list\n\n".utf8
        let outputs = try await Self.salvage("problems.ndjson", lines)
        #expect(outputs.map(\.problems.count).max() ?? 0 <= 5000)
        #expect(outputs.map(\.problems.count).reduce(0, +) == 20_000 + 1)
    }

    private static func salvage(_ name: String, _ contents: [UInt8]) async throws -> [ScanOutput] {
        let encoder = try FrameEncoder(level: 1)
        let frame = try encoder.compressMember(named: name, contents: contents.span).frame.bytes
        let bundle = SalvagedBundle(ByteSource(frame), path: "a.tar.zst", label: "a", systems: Systems.table)
        var outputs: [ScanOutput] = []
        try await CaptureReader([.salvage(bundle)], jobs: 1).read(0) { outputs.append($0) }
        return outputs
    }
}
