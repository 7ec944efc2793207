import Parallel
import Telemetry
import Testing

@testable import Bundle

/// Tests of bundles whose manifests state that all records have pseudonyms.
@Suite struct PseudonymizedBundleTests {
    private func record(_ number: Int, key: String?) -> Record {
        var record = SampleBundle.record(number)
        guard let key else { return record }
        record.notes = ["pseudonymized \(key)"]
        record.held = [.pseudonymized]
        return record
    }

    private func pack(_ keys: [String?], _ declaredKey: String?, problem: Bool = false, reject: Bool = false)
        async throws
        -> [UInt8]
    {
        var bytes: [UInt8] = []
        var assembler = try BundleAssembler(level: 1, toolVersion: "1", limit: JobLimit(jobs: 2))
        for (number, key) in keys.enumerated() {
            let record = record(number, key: key)
            assembler.add(RecordSummary(record), line: SampleBundle.line(record)[...])
        }
        let rejects = [
            QuarantineEntry(
                capture: "c", path: "p", store: .mozillaPingFile, reject: Reject("P2"), size: 1, sha256: "",
                isStored: false)
        ]
        try await assembler.add(SampleBundle.spill(reject ? rejects : [])) { _, _ in
            nil
        } to: {
            bytes.append(copying: $0)
        }
        let problems = [LocatedProblem(capture: "c", path: "p", problem: Problem("link", "x"))]
        _ = try assembler.finish(
            problems: SampleBundle.spill(problem ? problems : []), duplicateCount: 0, pseudonymKeyID: declaredKey
        ) {
            bytes.append(copying: $0)
        }
        return bytes
    }

    private func fault(_ bytes: [UInt8]) async throws -> String? {
        do {
            _ = try await SampleBundle.verify(bytes)
            return nil
        } catch let error as BundleError {
            return error.description
        }
    }

    private static let key = "01e15c1d"

    @Test func manifestStatesTheKey() async throws {
        let bytes = try await pack([Self.key, Self.key], Self.key)
        #expect(try BundleReader(bytes: bytes).manifest.pseudonymKeyID == Self.key)
        #expect(try await fault(bytes) == nil)
        let plain = try await pack([Self.key, nil], nil)
        #expect(try BundleReader(bytes: plain).manifest.pseudonymKeyID == nil)
        #expect(try await fault(plain) == nil)
    }

    @Test func recordWithoutPseudonymsIsDetected() async throws {
        let reason = "it lacks the pseudonyms that the manifest requires"
        #expect(
            try await fault(pack([Self.key, nil, nil], Self.key)) == "records/000001.ndjson line 2: \(reason)")
        #expect(try await fault(pack(["89abcdef"], Self.key)) == "records/000001.ndjson line 1: \(reason)")
    }

    @Test func quarantineAndProblemsAreDetected() async throws {
        let reason = "manifest.json: the ID of the pseudonym key does not match the contents of the bundle"
        #expect(try await fault(pack([Self.key], Self.key, problem: true)) == reason)
        #expect(try await fault(pack([Self.key], Self.key, reject: true)) == reason)
        #expect(try await fault(pack([Self.key], nil, problem: true, reject: true)) == nil)
    }

    @Test func recordWithNoteButWithoutHoldIsRejected() async throws {
        var record = record(1, key: Self.key)
        record.held = []
        let line = SampleBundle.line(record)
        var lines = RecordLines(line)
        #expect(throws: RecordError("noted or held as pseudonymized, not both")) { try lines.next() }
    }
}
