import JSONText
import Telemetry
import TestSupport
import Testing

@testable import Glean

@Suite struct PendingEventsFileTests {
    private static let event = #"{"timestamp":1,"category":"a","name":"b"}"#
    private static let canonical = #"{"category":"a","name":"b","timestamp":1}"#
    private static let marker = #"{"timestamp":1,"category":"glean","name":"restarted"}"#

    private func file(_ bytes: [UInt8]) -> PendingEventsFile {
        var document = JSONDocument()
        return PendingEventsFile(bytes, using: &document)
    }

    private func file(_ text: String) -> PendingEventsFile { file(Array(text.utf8)) }

    @Test(
        "Line endings, blank lines and a byte order mark are ignored [G53]",
        arguments: ["\(event)\n", event, "\u{FEFF}\(event)\r\n", "\n \r\n\(event)\n\n\t\n"])
    func ignoredBytes(text: String) {
        let found = file(text)
        #expect(found.batches == [Array("[\(Self.canonical)]".utf8)])
        #expect(found.rejects.isEmpty)
    }

    @Test("Unknown keys are kept, and null extras are allowed")
    func unknownKeys() {
        let found = file(#"{"timestamp":5,"category":"a","name":"b","extra":null,"execution_counter":null,"zzz":[1]}"#)
        let text = #"[{"category":"a","execution_counter":null,"extra":null,"name":"b","timestamp":5,"zzz":[1]}]"#
        #expect(found.batches == [Array(text.utf8)])
    }

    @Test(
        "Only the line that is not an event is rejected [G51]",
        arguments: [
            "not json", #"{"a":1}"#, "[1,2]", #""text""#, #"{"timestamp":-1,"category":"a","name":"b"}"#,
            #"{"timestamp":1.5,"category":"a","name":"b"}"#, #"{"timestamp":"1","category":"a","name":"b"}"#,
            #"{"timestamp":1,"category":"a"}"#, #"{"timestamp":1,"category":"a","name":"b","extra":{"k":1}}"#,
            #"{"timestamp":1,"category":"a","name":"b","extra":[]}"#, #"{"timestamp":1,"category":"a","name":null}"#,
            #"{"timestamp":1,"category":"a","name":"b","name":"c"}"#, "\0\0", String(repeating: "[", count: 5000),
            "\(event)x", "\(event)\(event)",
        ])
    func invalidLines(line: String) {
        let found = file("\(Self.event)\n\(line)\n\(Self.event)\n")
        #expect(found.eventCount == 2)
        let offset = Self.event.utf8.count + 1
        #expect(found.rejects.map { RejectSummary($0) } == [RejectSummary("G51", at: offset, length: line.utf8.count)])
    }

    @Test("A truncated last line is rejected [G52]")
    func truncatedLine() {
        for tail in [Array(#"{"timestamp":1,"cat"#.utf8), Array(#"{"timestamp":1,"category":"z"#.utf8) + [0xC3]] {
            let found = file(Array("\(Self.event)\n".utf8) + tail)
            #expect(found.eventCount == 1)
            let expected = RejectSummary("G52", at: Self.event.utf8.count + 1, length: tail.count)
            #expect(found.rejects.map { RejectSummary($0) } == [expected])
        }
    }

    @Test(
        "A run has at most 500 events [G54]", arguments: [(500, [500]), (501, [500, 1]), (1203, [500, 500, 203])])
    func runs(count: Int, runs: [Int]) throws {
        let found = file(String(repeating: "\(Self.event)\n", count: count))
        let counts = try found.batches.map { run in
            let document = try JSONDocument(run)
            return document.count(of: document.root)
        }
        #expect(counts == runs)
    }

    @Test("A file that contains only restart markers has no record [G55]")
    func restartMarkers() {
        let source = Source(capture: "c", path: "p", store: .gleanPendingEvents, index: 0)
        func records(_ text: String) -> Int {
            PendingEventRecords.makeRecords(of: file(text), ofPing: "events", borrowed: nil, source: source).count
        }
        #expect(records("") == 0)
        #expect(records("\(Self.marker)\n\(Self.marker)\n") == 0)
        #expect(records("\(Self.marker)\n\(Self.event)\n") == 1)
    }
}

@Suite struct ClientInfoTests {
    private func ping(_ type: String, client: String?, time: String?) -> Record {
        Record(
            system: .glean, type: type, id: "a", client: client, time: time.flatMap { Timestamp(rfc3339: $0) },
            payload: [],
            source: Source(capture: "c", path: "p", store: .gleanPingFile, index: 0))
    }

    private static let one = "5f0d1c7a-2b94-4e0c-9d3e-8a61b7c2f415"

    @Test("The newest ping is used, and the last one of pings with the same time")
    func newestPing() {
        let pings = [
            ping("baseline", client: Self.one, time: "2026-01-01T00:00:00Z"),
            ping("metrics", client: Self.one, time: "2026-01-03T00:00:00Z"),
            ping("metrics", client: Self.one, time: "2026-01-03T00:00:00Z"),
            ping("metrics", client: Self.one, time: "2026-01-02T00:00:00Z"),
            ping("topsites", client: nil, time: "2026-01-04T00:00:00Z"),
            ping("health", client: GleanName.placeholderClient.uppercased(), time: "2026-01-05T00:00:00Z"),
            ping("late", client: Self.one, time: nil),
        ]
        var newestPings = NewestPings()
        for (index, ping) in pings.enumerated() {
            newestPings.add(ping, at: GleanDirectory.FilePosition(folderIndex: 1, fileIndex: index))
        }
        let names = ["events", "baseline", "topsites", "health", "late"]
        #expect(names.map { newestPings.position(forEventsOf: $0)?.fileIndex } == [2, 0, 4, 5, nil])
    }

    @Test("The newest pings are determined once")
    func sharedNewestPings() {
        let shared = SharedNewestPings()
        var count = 0
        for _ in 0..<3 {
            _ = shared.newestPings {
                count += 1
                return NewestPings()
            }
        }
        #expect(count == 1)
    }

    @Test(
        "The client id in client_id.txt is read in all spellings [G58]",
        arguments: [
            (one, one), ("\(one)\n", one), ("{\(one.uppercased())}", one), (one.replacing("-", with: ""), one),
            ("broken", nil), ("", nil), (GleanName.placeholderClient, nil), ("\(one)\(one)", nil),
        ])
    func clientFile(text: String, client: String?) {
        let borrowed = BorrowedClientInfo(clientFile: Array(text.utf8))
        #expect(borrowed?.client == client)
        #expect(borrowed.map { String(decoding: $0.info, as: UTF8.self) } == client.map { #"{"client_id":"\#($0)"}"# })
    }
}
