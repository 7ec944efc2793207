import Files
import Mozilla
import Telemetry
import TestSupport

@testable import Bundle

/// Bundles in memory for tests.
enum SampleBundle {
    /// Returns an uploadable record with a payload of the given size in bytes.
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

    /// Packs records, quarantined bytes and problems into a bundle.
    static func pack(
        _ records: [Record], quarantined: [[UInt8]] = [], problems: [LocatedProblem] = [], level: Int = 3,
        jobs: Int = 2,
        limits: QuarantineLimits = QuarantineLimits(), parents: [String] = []
    ) async throws -> (bytes: [UInt8], manifest: Manifest, lost: [QuarantineEntry]) {
        var bytes: [UInt8] = []
        var assembler = try BundleAssembler(level: level, toolVersion: "1", limit: JobLimit(jobs: jobs))
        for record in records {
            assembler.add(RecordSummary(record), line: line(record)[...])
            try await assembler.writeFinishedSegments { bytes.append(copying: $0) }
        }
        let entries = quarantined.enumerated().map { number, bytes in
            QuarantineEntry(
                capture: "phone", path: "Documents/bad-\(number)", store: .mozillaPingFile,
                reject: Reject("P2 cut short"),
                size: bytes.count, sha256: PayloadHash.hex(of: bytes), isStored: true)
        }
        var lost: [QuarantineEntry] = []
        try await assembler.add(spill(entries, within: limits)) { input, _ in
            quarantined[input]
        } onLoss: { item, _ in
            lost.append(item)
        } to: {
            bytes.append(copying: $0)
        }
        let manifest = try assembler.finish(problems: spill(problems), duplicateCount: 0, parents: parents) {
            bytes.append(copying: $0)
        }
        return (bytes, manifest, lost)
    }

    /// Returns entries for the quarantine.
    ///
    /// The input of each entry has the number of the entry.
    static func spill(
        _ entries: [QuarantineEntry], within limits: QuarantineLimits = QuarantineLimits()
    ) throws -> QuarantineSpill {
        var spill = QuarantineSpill(folder: "/tmp", within: limits)
        for (number, entry) in entries.enumerated() {
            try spill.append(entry, line: entry.json.bytes, input: number)
        }
        return spill
    }

    static func spill(_ problems: [LocatedProblem]) throws -> DetailSpill {
        var spill = DetailSpill(folder: "/tmp")
        for problem in problems { try spill.append(problem.json.bytes) }
        return spill
    }

    /// Returns all entries of a list of a bundle.
    static func details<Entry: BundleDetail>(_ list: String, of bytes: [UInt8]) throws -> [Entry] {
        var cursor = try DetailCursor<Entry>(list, of: BundleReader(bytes: bytes))
        var entries: [Entry] = []
        while let entry = try cursor.next() { entries.append(entry) }
        return entries
    }

    /// Returns a bundle in which no member is empty.
    static func small() async throws -> [UInt8] {
        try await pack(
            [record(1), record(2, client: nil), record(3, client: "D")], quarantined: [Array("{\"cut".utf8)],
            problems: [LocatedProblem(capture: "phone", path: "p", problem: Problem("link", "not followed"))]
        ).bytes
    }

    /// Verifies a bundle and returns its digest.
    static func verify(_ bytes: [UInt8]) async throws -> String {
        let reader = try BundleReader(bytes: bytes)
        try await BundleVerifier(reader, limit: JobLimit(jobs: 2)).verify { _ in }
        return reader.manifest.digest
    }

    /// Returns a bundle with a changed manifest, whose text `change` receives and returns.
    static func changingManifest(_ bytes: [UInt8], _ change: (String) -> String) throws -> [UInt8] {
        let members = try members(bytes)
        let manifest = change(String(decoding: members.last?.contents ?? [], as: UTF8.self))
        return try SampleContainer.container(members.dropLast() + [(BundleLayout.manifest, Array(manifest.utf8))])
    }

    /// Returns the names and contents of the members of a bundle in order.
    static func members(_ bytes: [UInt8]) throws -> [(name: String, contents: [UInt8])] {
        let reader = try ContainerReader(ByteSource(bytes))
        var decoder = FrameDecoder()
        return try reader.allMembers().map {
            ($0.name, try reader.read($0, with: &decoder, byteLimit: BundleLayout.memberSizeLimit))
        }
    }
}
