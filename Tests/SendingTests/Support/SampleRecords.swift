import Files
import Parallel
import Telemetry

@testable import Bundle

/// Records and bundles for tests.
enum Sample {
    private static let source = Source(capture: "phone", path: "Documents/x", store: .mozillaPingFile, index: 0)

    /// A ping that may be uploaded.
    static func ping(_ number: Int, client: String, type: String = "core", path: String? = nil) -> Record {
        let digits = String(number, radix: 16, uppercase: true)
        let id = "00000000-0000-4000-8000-" + String(repeating: "0", count: 12 - digits.count) + digits
        return Record(
            system: .mozilla, type: type, id: id, client: client,
            time: Timestamp(milliseconds: 1_583_154_000_000 + Int64(number) * 60_000),
            target: Target(path: path ?? "/submit/telemetry/\(id)/\(type)/Focus/8.1.3/release/4236?v=4"),
            payload: Array(#"{"clientId":"\#(client)","seq":\#(number)}"#.utf8), source: source)
    }

    /// A list of events for Sift.
    static func sift(_ events: [String], account: String = "acme", client: String = "I", minute: Int = 0) -> Record {
        let payload = Array(#"{"data":[\#(events.joined(separator: ","))]}"#.utf8)
        return Record(
            system: .sift, type: "mobile_events", id: PayloadHash.id(of: payload), client: client,
            time: Timestamp(milliseconds: 1_583_154_000_000 + Int64(minute) * 60_000),
            target: Target(path: "/v3/accounts/\(account)/mobile_events"), payload: payload, source: source)
    }

    /// A list of requests for Leanplum.
    static func leanplum(_ requests: [String], client: String = "D") -> Record {
        let payload = Array(#"{"data":[\#(requests.joined(separator: ","))]}"#.utf8)
        return Record(
            system: .leanplum, type: "multi", id: PayloadHash.id(of: payload), client: client,
            time: Timestamp(milliseconds: 1_583_154_000_000), target: Target(path: "/api"), payload: payload,
            source: source)
    }

    /// A ping of Activity Stream.
    static func activityStream(_ number: Int) -> Record {
        let payload = Array(#"{"client_id":"A","session":\#(number),"topic":"activity-stream-mobile-sessions"}"#.utf8)
        return Record(
            system: .activityStream, type: "activity-stream-mobile-sessions", id: PayloadHash.id(of: payload),
            client: "A", time: Timestamp(milliseconds: 1_583_154_000_000 + Int64(number)),
            target: Target(path: "/v3/links/ping-centre"), payload: payload, source: source)
    }

    /// Writes a bundle of records.
    @discardableResult
    static func bundle(_ records: [Record], at path: String) async throws -> String {
        let sink = Sink()
        var assembler = try BundleAssembler(level: 1, tool: "1", limit: JobLimit(jobs: 2)) {
            sink.bytes.append(copying: $0)
        }
        for record in records {
            var line: [UInt8] = []
            record.write(to: &line)
            assembler.add(RecordSummary(record), line: line[...])
        }
        _ = try await assembler.add(quarantined: []) { _ in nil }
        _ = try assembler.finish(problems: [], duplicates: 0)
        let output = try AtomicOutput(path: path, replacing: false)
        try output.write(sink.bytes.span)
        try output.commit()
        return path
    }

    private final class Sink {
        var bytes: [UInt8] = []
    }
}
