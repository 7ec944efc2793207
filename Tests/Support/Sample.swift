import Bundle
import Files
import JSONText
import Leanplum
import Mozilla
import Sift
import Systems
import Telemetry

/// Uploadable records, and bundles of records.
public enum Sample {
    /// The source of all sample records.
    public static let source = Source(capture: "phone", path: "Documents/x", store: .mozillaPingFile, index: 0)

    /// Returns a time that is `minutes` after the time of the first record.
    public static func time(_ minutes: Int) -> Timestamp {
        Timestamp(clamping: 1_583_154_000_000 + Int64(minutes) * 60_000)
    }

    /// Returns a record with a list of events for Sift.
    public static func sift(
        _ events: [String], account: String = "acme", client: String? = "I", minute: Int? = 0
    ) -> Record {
        let payload = Array(#"{"data":[\#(events.joined(separator: ","))]}"#.utf8)
        return Record(
            system: .sift, type: "mobile_events", id: PayloadHash.id(of: payload), client: client,
            time: minute.map(time), target: Target(path: "/v3/accounts/\(account)/mobile_events"), payload: payload,
            source: source)
    }

    /// Returns a record with a list of requests for Leanplum.
    public static func leanplum(_ requests: [String], client: String? = "D", minute: Int? = 0) -> Record {
        let payload = Array(#"{"data":[\#(requests.joined(separator: ","))]}"#.utf8)
        return Record(
            system: .leanplum, type: "multi", id: PayloadHash.id(of: payload), client: client,
            time: minute.map(time), target: Target(path: "/api"), payload: payload, source: source)
    }

    /// Writes a bundle of records and withdrawals to `path`, and returns `path`.
    @discardableResult
    public static func bundle(
        _ records: [Record], withdrawals: Set<Withdrawal> = [], parents: [String] = [], at path: String
    ) async throws -> String {
        let output = try AtomicOutput(path: path, replacing: false)
        var assembler = try BundleAssembler(level: 1, toolVersion: "1", limit: JobLimit(jobs: 2))
        for record in records {
            var line: [UInt8] = []
            record.write(to: &line)
            assembler.add(RecordSummary(record), line: line[...])
        }
        try await assembler.add(QuarantineSpill(folder: "/tmp", knowing: Systems.table)) { _, _ in
            []
        } to: {
            try output.write($0)
        }
        _ = try assembler.finish(
            problems: DetailSpill(folder: "/tmp"), withdrawals: withdrawals, duplicateCount: 0, parents: parents
        ) { try output.write($0) }
        try output.commit()
        return path
    }
}
