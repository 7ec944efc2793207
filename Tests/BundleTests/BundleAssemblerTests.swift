import CLibrary
import Files
import Mozilla
import Telemetry
import TestSupport
import Testing

@testable import Bundle

@Suite struct BundleAssemblerTests {
    private static let maximum = BundleLayout.maxSegmentSize

    /// Packs records with payloads of the given sizes, and returns the segments of the bundle.
    private func segments(_ payloadSizes: [Int], jobs: Int = 2) async throws -> [Manifest.Segment] {
        let records = payloadSizes.enumerated().map { SampleBundle.record($0, payloadSize: $1) }
        let (bytes, manifest, _) = try await SampleBundle.pack(records, jobs: jobs)
        #expect(try await SampleBundle.verify(bytes) == manifest.digest)
        let contents = try SampleBundle.members(bytes).filter { BundleLayout.isSegment($0.name) }.map(\.contents)
        #expect(contents.map(\.count) == manifest.segments.map(\.bytes))
        #expect(contents.flatMap(\.self) == records.flatMap { SampleBundle.line($0) })
        return manifest.segments
    }

    @Test func segmentsAreClosedBeforeTheyExceedTheMaximum() async throws {
        let segments = try await segments(Array(repeating: Self.maximum / 4, count: 10))
        #expect(segments.map(\.path) == (1...4).map { "records/00000\($0).ndjson" })
        #expect(segments.map(\.records) == [3, 3, 3, 1])
        #expect(segments.allSatisfy { $0.bytes <= Self.maximum })
    }

    @Test func segmentCanHaveExactlyTheMaximum() async throws {
        let overhead = SampleBundle.line(SampleBundle.record(0)).count - 20
        for (excess, records) in [(0, [2]), (1, [1, 1])] {
            let sizes = [Self.maximum / 2 - overhead, Self.maximum / 2 - overhead + excess]
            let segments = try await segments(sizes)
            #expect(segments.map(\.records) == records)
            #expect(segments.map(\.bytes).reduce(0, +) == Self.maximum + excess)
        }
    }

    @Test func largerRecordGetsItsOwnSegment() async throws {
        let segments = try await segments([10, 2 * Self.maximum, 10, 10])
        #expect(segments.map(\.records) == [1, 1, 2])
        #expect(segments[1].bytes > 2 * Self.maximum)
    }

    @Test func bytesDoNotDependOnTheNumberOfJobs() async throws {
        let records = (0..<12).map { SampleBundle.record($0, payloadSize: Self.maximum / 4) }
        let alone = try await SampleBundle.pack(records, quarantined: [[1], []], jobs: 1).bytes
        for jobs in [2, 7] {
            #expect(try await SampleBundle.pack(records, quarantined: [[1], []], jobs: jobs).bytes == alone)
        }
    }

    @Test func digestDoesNotDependOnTheLevel() async throws {
        let records = (0..<3).map { SampleBundle.record($0) }
        let (fast, best) = (
            try await SampleBundle.pack(records, level: 1), try await SampleBundle.pack(records, level: 19)
        )
        #expect(fast.bytes != best.bytes)
        #expect(fast.manifest == best.manifest)
    }

    @Test func emptyBundleHasNoSegments() async throws {
        let (bytes, manifest, _) = try await SampleBundle.pack([])
        #expect(manifest.segments == [])
        #expect(manifest.totals == BundleTotals())
        #expect(try await SampleBundle.verify(bytes) == manifest.digest)
    }

    @Test func equalQuarantinedBytesAreStoredOnce() async throws {
        let (bytes, manifest, _) = try await SampleBundle.pack([], quarantined: [[7], [8], [7]])
        #expect(manifest.otherMembers.filter { $0.path.hasPrefix("quarantine/") }.map(\.bytes) == [1, 1])
        let listed: [QuarantineEntry] = try SampleBundle.details(BundleLayout.quarantine, of: bytes)
        #expect(listed.map(\.path) == (0..<3).map { "Documents/bad-\($0)" })
    }

    @Test func missingQuarantinedBytesAreListedAsNotStored() async throws {
        let entry = QuarantineEntry(
            capture: "phone", path: "p", store: .mozillaPingFile, reject: Reject("P2 cut short"), size: 1,
            sha256: PayloadHash.hex(of: [7]), isStored: true)
        var assembler = try BundleAssembler(level: 3, toolVersion: "1", limit: JobLimit(jobs: 1))
        var lost: [Problem] = []
        try await assembler.add(SampleBundle.spill([entry])) { _, _ in
            throw FileError(.read, "p", code: EIO)
        } onLoss: { _, loss in
            lost.append(loss)
        } to: { _ in
        }
        #expect(lost == [Problem("unreadable", "cannot read p: Input/output error")])
        let manifest = try assembler.finish(problems: SampleBundle.spill([LocatedProblem]()), duplicateCount: 0) { _ in
        }
        #expect(!manifest.otherMembers.contains { $0.path.hasPrefix("quarantine/") })
    }

    @Test("An error that prevents reading quarantined bytes is reported unless equal bytes can be read")
    func unreadableQuarantine() async throws {
        struct ReadError: Error, CustomStringConvertible { let description = "cannot read p: Input/output error" }
        let contents: [[UInt8]] = [[7], [8], [7]]
        let entries = contents.enumerated().map { number, bytes in
            QuarantineEntry(
                capture: "phone", path: "p\(number)", store: .mozillaPingFile, reject: Reject("P2 cut short"), size: 1,
                sha256: PayloadHash.hex(of: bytes), isStored: true)
        }
        var assembler = try BundleAssembler(level: 3, toolVersion: "1", limit: JobLimit(jobs: 1))
        var lost: [String: Problem] = [:]
        try await assembler.add(SampleBundle.spill(entries)) { input, _ in
            if input < 2 { throw ReadError() }
            return [7]
        } onLoss: { item, loss in
            lost[item.path] = loss
        } to: { _ in
        }
        #expect(lost == ["p1": Problem("unreadable", "cannot read p: Input/output error")])
    }

    /// Checks the digest with other programs, following only the description of the format.
    @Test func digestIsTheHashOfTheOutputOfSha256sum() async throws {
        let (bytes, manifest, _) = try await SampleBundle.pack(
            (0..<5).map { SampleBundle.record($0, payloadSize: 2 << 20) }, quarantined: [[1, 2], []])
        let file = try TemporaryFile(bytes)
        let script = """
            import hashlib, io, json, subprocess, sys, tarfile
            tar = tarfile.open(fileobj=io.BytesIO(subprocess.check_output(["zstd", "-dc", sys.argv[1]])))
            members = [(member.name, tar.extractfile(member).read()) for member in tar]
            lines = "".join("%s  %s\\n" % (hashlib.sha256(data).hexdigest(), name) for name, data in members[:-1])
            manifest = json.loads(members[-1][1])
            assert members[-1][0] == "manifest.json"
            listed = {entry["path"]: entry for entry in manifest["members"] + manifest["segments"]}
            assert list(listed) and len(listed) == len(members) - 1
            for name, data in members[:-1]:
                assert listed[name]["bytes"] == len(data), name
                assert listed[name]["sha256"] == hashlib.sha256(data).hexdigest(), name
                assert listed[name].get("records", 0) == (data.count(b"\\n") if name[:8] == "records/" else 0), name
            print(hashlib.sha256(lines.encode()).hexdigest())
            """
        #expect(try tool("python3", "-c", script, file.path) == manifest.digest + "\n")
    }
}
