import Files
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

    /// Packs a bundle whose records have pseudonyms of `keys`.
    private func pack(_ keys: [String?], problem: Bool = false, reject: Bool = false) async throws -> [UInt8] {
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
            []
        } to: {
            bytes.append(copying: $0)
        }
        let problems = [LocatedProblem(capture: "c", path: "p", problem: Problem("link", "x"))]
        _ = try assembler.finish(
            problems: SampleBundle.spill(problem ? problems : []), duplicateCount: 0
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
    private static let statedKey = #""pseudonymized":"\#(key)","#

    /// Adds the id of a key to the manifest of a bundle that has none.
    private func stating(_ bytes: [UInt8]) throws -> [UInt8] {
        try SampleBundle.changingManifest(bytes) {
            $0.replacing(#""segments""#, with: #"\#(Self.statedKey)"segments""#, maxReplacements: 1)
        }
    }

    @Test("The manifest states the key exactly if everything has pseudonyms of one key")
    func statedKeyOfBundles() async throws {
        let bytes = try await pack([Self.key, Self.key])
        #expect(try BundleReader(bytes: bytes).manifest.pseudonymKeyID == Self.key)
        #expect(try await fault(bytes) == nil)
        let others = [
            try await pack([Self.key, nil]), try await pack([Self.key, "89abcdef"]), try await pack([nil]),
            try await pack([]), try await pack([Self.key], problem: true), try await pack([Self.key], reject: true),
        ]
        for other in others {
            #expect(try BundleReader(bytes: other).manifest.pseudonymKeyID == nil)
            #expect(try await fault(other) == nil)
        }
    }

    @Test func missingKeyIsDetected() async throws {
        let bytes = try SampleBundle.changingManifest(try await pack([Self.key, Self.key])) {
            $0.replacing(Self.statedKey, with: "")
        }
        #expect(try await fault(bytes) == "manifest.json: it lacks the id of the pseudonym key of its records")
    }

    @Test func recordWithoutPseudonymsIsDetected() async throws {
        let reason = "it lacks the pseudonyms that the manifest requires"
        #expect(
            try await fault(stating(pack([Self.key, nil, nil]))) == "records/000001.ndjson line 2: \(reason)")
        let other = try SampleBundle.changingManifest(try await pack(["89abcdef"])) {
            $0.replacing("89abcdef", with: Self.key)
        }
        #expect(try await fault(other) == "records/000001.ndjson line 1: \(reason)")
    }

    @Test func quarantineAndProblemsAreDetected() async throws {
        let reason = "manifest.json: the ID of the pseudonym key does not match the contents of the bundle"
        #expect(try await fault(stating(pack([Self.key], problem: true))) == reason)
        #expect(try await fault(stating(pack([Self.key], reject: true))) == reason)
    }

    @Test func recordWithNoteButWithoutHoldIsRejected() async throws {
        var record = record(1, key: Self.key)
        record.held = []
        let line = SampleBundle.line(record)
        var lines = RecordLines(line)
        #expect(throws: RecordError("noted or held as pseudonymized, not both")) { try lines.next() }
    }
}
