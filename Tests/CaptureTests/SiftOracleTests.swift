import Capture
import Files
import Foundation
import JSONText
import Sift
import Telemetry
import Testing

/// Compares every store with its oracle, which is computed without decoding stores, so that it is independent
/// of the code under test.
@Suite struct SiftOracleTests {
    @Test("A store yields the results that its oracle lists", arguments: SiftFixtures.sets)
    func requests(set: String) async throws {
        let path = "\(try SiftFixtures.path)/\(set)"
        let oracle = try JSONDocument(InputFile(path: "\(path)/expected-requests.json").contents(limit: 64 << 20))
        let expected = oracle.elements(of: oracle.root).compactMap { request -> (String, JSONNode)? in
            guard let body = oracle.value(of: "body", in: request),
                let source = oracle.value(of: "source", in: request),
                let data = oracle.value(of: "data", in: body), oracle.count(of: data) > 0
            else { return nil }
            return (oracle.string(of: source), body)
        }
        let found = try await ReadCapture(path: path)
        #expect(found.records.map { Self.place(of: $0) } == expected.map(\.0))
        for (record, (source, body)) in zip(found.records, expected) {
            let payload = try JSONDocument(record.payload)
            #expect(payload.value(payload.root, isSameAs: body, of: oracle), "\(source)")
            #expect(payload.canonicalBytes(of: payload.root) == record.payload, "\(source) is not canonical")
            #expect(record.held.isEmpty && record.contradiction == nil)
        }
    }

    /// Returns the source of a record in the notation of the oracle.
    private static func place(of record: Record) -> String {
        guard record.source.store == .siftQueue else { return "uploader[\(record.source.index)]" }
        return record.source.path.components(separatedBy: "sift-v0_0_1/").last ?? ""
    }

    @Test("Only stores with faults have items in quarantine", arguments: SiftFixtures.sets)
    func quarantine(set: String) async throws {
        let found = try await ReadCapture(path: "\(try SiftFixtures.path)/\(set)")
        let places = found.quarantined.map { item in
            "\(item.path.components(separatedBy: "sift-v0_0_1/")[1]) \(item.reject.reason.prefix { $0 != " " })"
        }
        switch set {
        case "edge": #expect(places == ["queues/sift-default event-skipped"])
        case "mixed":
            #expect(
                places == [
                    "ios_app_state_collector empty", "uploader bad-trailer", "queues/empty empty",
                    "queues/note.txt not-plist", "queues/queue-x/data not-plist",
                    "queues/settings.plist not-keyed-archive",
                ])
        default: #expect(places.isEmpty)
        }
        #expect(found.quarantined.allSatisfy { $0.isStored })
    }

    @Test("An unusual file has the result that the list of these files states", arguments: try SiftFixtures.hostile)
    func hostile(file: SiftFixtures.Hostile) async throws {
        let bytes = try InputFile(path: "\(try SiftFixtures.path)/hostile/files/\(file.file)").contents(limit: 4 << 20)
        let name = file.isUploader ? "uploader" : "queues/odd"
        let folder = try CaptureFolder()
        try folder.put("Library/Caches/sift-v0_0_1/\(name)", bytes)
        let found = try await ReadCapture(folder.open())

        let times = try found.records.flatMap { record in
            let payload = try JSONDocument(record.payload)
            let data = try #require(payload.value(of: "data", in: payload.root))
            return try payload.elements(of: data).map { event in
                let time = try #require(payload.value(of: "time", in: event))
                return try #require(UInt64(payload.string(of: time)))
            }
        }
        let codes = Set(
            found.quarantined.map(\.reject.reason) + found.problems.map(\.problem.code)
                + found.records.flatMap(\.notes)
        ).map { String($0.prefix { $0 != " " }) }
        switch file.expect {
        case "ok" where file.times != nil:
            #expect(times == file.times)
            #expect(found.quarantined.isEmpty)
        case "partial":
            #expect(times == file.times)
            #expect(found.quarantined.count == 1)
        case "error": #expect(times.isEmpty)
        default: break
        }
        if !file.codes.isEmpty, file.expect != "safe" { #expect(!Set(codes).isDisjoint(with: file.codes), "\(codes)") }
        #expect(found.quarantined.allSatisfy { $0.size == bytes.count && $0.isStored })
    }
}
