import Parallel
import Telemetry

@testable import Bundle

/// Bundles in memory for tests.
enum SampleBundle {
    /// A record that may be uploaded, with as many bytes of payload as wanted.
    static func record(_ number: Int, client: String? = "C", payloadSize: Int = 20) -> Record {
        let id = "ID-\(number)"
        let filling = String(repeating: "x", count: max(0, payloadSize - #"{"a":""}"#.utf8.count))
        return Record(
            system: .mozilla, type: "core", id: id, client: client,
            time: Timestamp(milliseconds: 1_583_154_291_000 + Int64(number)), app: App(name: "Focus", version: "8.1.3"),
            target: Target(path: "/submit/telemetry/\(id)/core/Focus/8.1.3/release/4236"),
            payload: Array(#"{"a":"\#(filling)"}"#.utf8),
            source: Source(capture: "phone", path: "Documents/\(number)", store: .mozillaPingFile, index: 0))
    }

    static func line(_ record: Record) -> [UInt8] {
        var line: [UInt8] = []
        record.write(to: &line)
        return line
    }

    /// Packs records, and spans that could not be understood.
    static func pack(
        _ records: [Record], quarantined: [[UInt8]] = [], problems: [PlacedProblem] = [], level: Int = 3, jobs: Int = 2
    ) async throws -> (bytes: [UInt8], manifest: Manifest) {
        let sink = Sink()
        var assembler = try BundleAssembler(level: level, tool: "1", limit: JobLimit(jobs: jobs)) {
            sink.bytes.append(copying: $0)
        }
        for record in records {
            assembler.add(RecordSummary(record), line: line(record)[...])
            try await assembler.writeFinished()
        }
        let entries = quarantined.enumerated().map { number, bytes in
            Quarantined(
                capture: "phone", path: "Documents/bad-\(number)", store: .mozillaPingFile,
                reject: Reject("P2 cut short"),
                size: bytes.count, sha256: PayloadHash.hex(of: bytes), isStored: true)
        }
        let lost = try await assembler.add(quarantined: entries) { quarantined[$0] }
        let manifest = try assembler.finish(problems: problems, duplicates: 0)
        return (lost.isEmpty ? sink.bytes : [], manifest)
    }

    /// A bundle with something in each of its members.
    static func small() async throws -> [UInt8] {
        try await pack(
            [record(1), record(2, client: nil), record(3, client: "D")], quarantined: [Array("{\"cut".utf8)],
            problems: [PlacedProblem(capture: "phone", path: "p", problem: Problem("link", "not followed"))]
        ).bytes
    }

    /// Opens and verifies a bundle; its digest.
    static func verify(_ bytes: [UInt8]) async throws -> String {
        let reader = try BundleReader(bytes: bytes)
        let secret = RunSecret(identity: 3, content: 5)
        try await BundleVerifier(reader, limit: JobLimit(jobs: 2), secret: secret).verify { _ in }
        return reader.manifest.digest
    }

    /// The members of a bundle, by name, in their order.
    static func members(_ bytes: [UInt8]) throws -> [(name: String, contents: [UInt8])] {
        let reader = try ContainerReader(ByteSource(bytes))
        var decoder = try FrameDecoder()
        return try reader.members.map {
            ($0.name, try reader.read($0, with: &decoder, limit: BundleLayout.memberLimit))
        }
    }

    private final class Sink {
        var bytes: [UInt8] = []
    }
}
