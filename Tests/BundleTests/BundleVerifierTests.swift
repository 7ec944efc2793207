import Files
import Foundation
import Hashing
import Telemetry
import Testing

@testable import Bundle

/// Tests of bundles whose hashes are correct but whose contents are not.
@Suite struct BundleVerifierTests {
    /// Packs members with a manifest that has correct hashes and sizes, and the given counts.
    private func repack(
        _ members: [(name: String, contents: [UInt8])], records: [Int], totals: BundleTotals
    ) throws -> [UInt8] {
        let hashed = members.map {
            Manifest.Member(path: $0.name, bytes: $0.contents.count, sha256: ContentHash(of: $0.contents))
        }
        let segments = hashed.filter { BundleLayout.isSegment($0.path) }
        let manifest = Manifest(
            toolVersion: "1",
            segments: zip(segments, records).map {
                Manifest.Segment(path: $0.path, records: $1, bytes: $0.bytes, sha256: $0.sha256)
            },
            otherMembers: hashed.filter { !BundleLayout.isSegment($0.path) },
            totals: totals, duplicateCount: 0, inputs: BundleInputs([]), digest: Manifest.digest(of: hashed))
        return try SampleContainer.container(members + [("manifest.json", manifest.bytes)])
    }

    /// Returns the fault that is found after a change of a member of the small bundle.
    private func fault(
        _ name: String, records: Int = 3, _ change: ([UInt8]) -> [UInt8]
    ) async throws -> String? {
        let members = try SampleBundle.members(try await SampleBundle.small()).dropLast().map {
            ($0.name, $0.name == name ? change($0.contents) : $0.contents)
        }
        var totals = BundleTotals()
        for _ in 0..<records { totals.count(RecordSummary(SampleBundle.record(1))) }
        do {
            _ = try await SampleBundle.verify(repack(members, records: [records], totals: totals))
            return nil
        } catch let error as BundleError {
            return error.description
        }
    }

    private func segment(_ records: [Record]) -> [UInt8] { records.flatMap { SampleBundle.line($0) } }

    private let first = BundleLayout.segmentName(1)

    @Test func unchangedBundleIsValid() async throws {
        #expect(try await fault("", { $0 }) == nil)
    }

    @Test func wrongCountsAreDetected() async throws {
        #expect(
            try await fault("", records: 4, { $0 })
                == "manifest.json: the number of records of \(first) does not match the contents of the bundle")
        #expect(
            try await fault(first) { _ in segment([SampleBundle.record(1)]) }
                == "manifest.json: the number of records of \(first) does not match the contents of the bundle")
    }

    @Test func clientsMustMatchTheRecords() async throws {
        for contents in [[], Array("{}\n".utf8)] as [[UInt8]] {
            #expect(try await fault(BundleLayout.clients) { _ in contents }?.contains("clients.ndjson") == true)
        }
    }

    @Test func duplicateRecordIsDetected() async throws {
        let twice = [SampleBundle.record(1), SampleBundle.record(2), SampleBundle.record(1)]
        #expect(try await fault(first) { _ in segment(twice) } == "\(first) line 3: the record occurs twice")
    }

    @Test(arguments: [
        "https://telemetry.example/submit/telemetry/a/core/Focus/1/release/1",
        "//telemetry.example/submit/telemetry/a/core/Focus/1/release/1", "/submit/telemetry/../../../x/y/z",
        "/submit/telemetry/a/core/Focus/1/release/1 HTTP/1.1\r\nHost: x", "/submit/telemetry/a/core/Focus/1/release",
        "/submit/telemetry/a/core/Focus/1/release/%2e%2e", "/submit/telemetry/a/core/Focus/1/release/1#x", "/", "",
    ])
    func invalidTargetIsDetected(path: String) async throws {
        var record = SampleBundle.record(1)
        record.target = Target(path: path)
        let line = "\(first) line 1: the target is not in the system's grammar"
        #expect(try await fault(first) { _ in segment([record]) } == line)
    }

    @Test func uploadableRecordMustHaveATarget() async throws {
        var record = SampleBundle.record(1)
        record.target = nil
        #expect(try await fault(first) { _ in segment([record]) } == "\(first) line 1: uploadable without a target")
    }

    @Test func idThatIsAHashMustMatchThePayload() async throws {
        var record = SampleBundle.record(1)
        record.id = "sha256:" + String(repeating: "0", count: 64)
        #expect(
            try await fault(first) { _ in segment([record]) }
                == "\(first) line 1: the id is not the hash of the payload")
    }

    /// Pairs of a text in the first line and its replacement, which makes the line malformed.
    private static let lines = [
        (#","held""#, #", "held""#), (#"{"app""#, #"{"aaa":1,"app""#), (#""index":0"#, #""index":00"#),
        (#""index":0"#, #""index":0.0"#), (#""held":[],"#, ""), (#""held":[]"#, #""held":null"#),
        (#""held":[]"#, #""held":[1]"#), (#""held":[]"#, #""held":["schema:x"]"#),
        (#""system":"mozilla""#, #""system":"other""#), (#""client":"C""#, #""client":7"#),
        (#""client":"C""#, #""client":"\u0043""#), (#""client":"C""#, #""client":"C","client":"C""#),
        (#"Z","type""#, #"0Z","type""#), (#""payload":{"#, #""payload":[{"#), (#""store":"mozilla"#, #""store":"x"#),
        (#"{"path""#, #"{"host":"x","path""#), ("}\n", "} \n"), ("}\n", "}\r\n"), ("}\n", "}\n\n"), ("}\n", "}"),
    ]

    @Test(arguments: lines) func recordThatIsNotCanonicalIsDetected(text: String, replacement: String) async throws {
        let fault = try await fault(first) { contents in
            let line = String(decoding: contents.prefix { $0 != 10 } + [10], as: UTF8.self)
            let parts = line.components(separatedBy: text)
            #expect(parts.count > 1, "\(text) is nowhere in \(line)")
            return Array((parts[0] + replacement + parts[1...].joined(separator: text)).utf8)
        }
        #expect(try #require(fault).hasPrefix("\(first) line "))
    }

    @Test(arguments: [BundleLayout.quarantine, BundleLayout.problems, BundleLayout.clients])
    func detailsMustBeInCanonicalForm(name: String) async throws {
        let changes: [([UInt8]) -> [UInt8]] = [
            { $0 + [10] }, { [10] + $0 }, { Array($0.dropLast()) }, { _ in Array("{}\n".utf8) },
            { Array("{\"aa\":1,".utf8) + $0.dropFirst() }, { Array("{ ".utf8) + $0.dropFirst() },
        ]
        for change in changes { #expect(try await fault(name, change)?.hasPrefix("\(name) line ") == true) }
    }

    @Test func quarantineMustMatchItsList() async throws {
        #expect(
            try await fault(BundleLayout.quarantine, { _ in [] })
                == "manifest.json: the list of quarantined input does not match the contents of the bundle")
        let name = try #require(
            SampleBundle.members(try await SampleBundle.small()).map(\.name).first {
                $0.hasPrefix("quarantine/")
            })
        #expect(try await fault(name, { $0 + [0] }) == "manifest.json: \(name) is not named after its hash")
        for (text, replacement) in [(#""size":5"#, #""size":6"#), (#""offset":null"#, #""offset":-1"#)] {
            let fault = try await fault(BundleLayout.quarantine) { contents in
                let line = String(decoding: contents, as: UTF8.self)
                #expect(line.contains(text))
                return Array(line.replacing(text, with: replacement).utf8)
            }
            #expect(fault != nil, "\(replacement)")
        }
    }

    @Test("Quarantined bytes are in the order of their hashes")
    func orderOfQuarantine() async throws {
        let bytes = try await SampleBundle.pack([SampleBundle.record(1)], quarantined: [[1], [2]]).bytes
        var members = Array(try SampleBundle.members(bytes).dropLast())
        let first = try #require(members.firstIndex { $0.name.hasPrefix("quarantine/") })
        members.swapAt(first, first + 1)
        let error = #expect(throws: BundleError.self) {
            try BundleReader(bytes: repack(members, records: [1], totals: BundleTotals()))
        }
        #expect(error?.description == "manifest.json: \(members[first + 1].name) is not in the order of the hashes")
    }

    @Test func emptySegmentIsDetected() async throws {
        let members = Array(try SampleBundle.members(try await SampleBundle.small()).dropLast())
        let empty = members.prefix(2) + [(BundleLayout.segmentName(2), [])] + members.dropFirst(2)
        let error = #expect(throws: BundleError.self) {
            try BundleReader(bytes: repack(Array(empty), records: [3, 0], totals: BundleTotals()))
        }
        #expect(error?.description == "manifest.json: records/000002.ndjson has no records")
    }

    /// Pairs of a text in the manifest and its replacement, which makes the manifest malformed.
    @Test(arguments: [
        (#""duplicates":0"#, #""duplicates":-1"#), (#""duplicates":0"#, #""duplicates":0,"filters":{}"#),
        (#""version":1"#, #""version":2"#), (#""tool""#, #""parents":[],"tool""#), (#""uploadable":3"#, #""uploadable":-3"#),
    ])
    func malformedManifest(text: String, replacement: String) async throws {
        let bytes = try SampleBundle.changingManifest(try await SampleBundle.small()) { manifest in
            #expect(manifest.contains(text))
            return manifest.replacing(text, with: replacement, maxReplacements: 1)
        }
        #expect(throws: BundleError.self) { try BundleReader(bytes: bytes) }
    }

    @Test func membersMustFollowTheFormat() async throws {
        let members = Array(try SampleBundle.members(try await SampleBundle.small()).dropLast())
        let changes: [(String, ([(name: String, contents: [UInt8])]) -> [(name: String, contents: [UInt8])])] = [
            ("no segment 1", { $0.map { ($0.name.replacing("000001", with: "000002"), $0.contents) } }),
            ("details in another order", { $0.dropLast(2) + $0.suffix(2).reversed() }),
            ("a detail missing", { $0.dropLast() }),
            ("an unknown member at the end", { $0 + [("unknown", [1])] }),
            ("an unknown member before the segments", { $0.prefix(1) + [("unknown", [1])] + $0.dropFirst() }),
        ]
        for (what, change) in changes {
            let bytes = try repack(change(members), records: [3], totals: BundleTotals())
            let error = #expect(throws: BundleError.self, "\(what)") { try BundleReader(bytes: bytes) }
            #expect(error?.description.hasPrefix("manifest.json: ") == true, "\(what)")
        }
    }
}
