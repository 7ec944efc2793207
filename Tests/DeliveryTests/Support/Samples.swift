import Files
import Foundation
import JSONText
import Parallel
import Telemetry
import Testing

@testable import Bundle
@testable import Delivery

/// Records for tests.
enum Sample {
    static let start = 1_583_154_000_000 as Int64

    static func time(_ minutes: Int) -> Timestamp { Timestamp(clamping: start + Int64(minutes) * 60_000) }

    /// A ping that may be uploaded.
    static func ping(
        _ id: String, type: String = "core", client: String? = "C", minute: Int? = 0, seq: Int = 1, held: [Hold] = []
    ) -> Record {
        Record(
            system: .mozilla, type: type, id: id, client: client, time: minute.map(time),
            target: Target(path: "/submit/telemetry/\(id)/\(type)/Focus/8.1.3/release/4236?v=4"),
            payload: Array(#"{"seq":\#(seq)}"#.utf8), source: source, held: held)
    }

    /// A list of events for Sift.
    static func sift(
        _ events: [String], account: String = "acme", client: String? = "I", minute: Int? = 0
    ) -> Record {
        let payload = Array(#"{"data":[\#(events.joined(separator: ","))]}"#.utf8)
        return Record(
            system: .sift, type: "mobile_events", id: PayloadHash.id(of: payload), client: client,
            time: minute.map(time), target: Target(path: "/v3/accounts/\(account)/mobile_events"), payload: payload,
            source: source)
    }

    /// A list of requests for Leanplum.
    static func leanplum(_ requests: [String], client: String? = "D", minute: Int? = 0) -> Record {
        let payload = Array(#"{"data":[\#(requests.joined(separator: ","))]}"#.utf8)
        return Record(
            system: .leanplum, type: "multi", id: PayloadHash.id(of: payload), client: client,
            time: minute.map(time), target: Target(path: "/api"), payload: payload, source: source)
    }

    static let source = Source(capture: "phone", path: "Documents/x", store: .mozillaPingFile, index: 0)

    /// The records as a pool, as if they stood in one bundle each segment.
    static func pool(_ records: [Record], isReleased: (String, String) -> Bool = { _, _ in false }) -> CandidatePool {
        var pool = CandidatePool()
        for (segment, record) in records.enumerated() {
            var notes = CandidateNotes()
            notes.add(record, 0..<10)
            pool.add(notes, bundle: 0, segment: segment, isReleased: isReleased)
        }
        return pool
    }

    /// A bundle file of records.
    static func bundle(_ records: [Record], at path: String) async throws {
        let output = try AtomicOutput(path: path, replacing: false)
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
        try output.write(sink.bytes.span)
        try output.commit()
    }

    private final class Sink {
        var bytes: [UInt8] = []
    }
}

extension Plan {
    /// All uploads.
    var sends: [PlannedSend] { queues.flatMap(\.sends) }

}

extension LedgerError {
    /// Which one it is.
    var kind: String {
        switch self {
        case .held: "held"
        case .damaged: "damaged"
        case .notALedger: "notALedger"
        case .newer: "newer"
        case .missing: "missing"
        case .file(let error): "file \(error.code)"
        case .storage(_, _, let isFull): isFull ? "full" : "storage"
        }
    }
}
