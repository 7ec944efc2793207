import Files
import JSONText
import Systems
import Telemetry
import TestSupport
import Testing

@testable import ActivityStream
@testable import Capture

/// Reads the lines of an NDJSON file.
private func readLines(_ lines: [String], path: String = "pings.ndjson") -> [LogFinding] {
    read(lines.joined(separator: "\n"), kind: .lines, path: path)
}

/// Reads a request log.
private func read(_ text: String, kind: RequestLogKind, path: String) -> [LogFinding] {
    let log = RequestLog(
        ByteSource(Array(text.utf8)), kind: kind, label: "capture", path: path, systems: Systems.table)
    guard var items = try? LogItems(log, limit: JobLimit(jobs: 1)) else { return [] }
    var findings: [LogFinding] = []
    while let item = items.next() { findings.append(item.finding) }
    return findings
}

/// Reads an entry of an HTTP archive.
private func readEntry(_ body: String, started: String, status: Int, index: Int = 0) throws -> Record {
    var reader = HTTPArchiveReader(capture: "capture", path: "capture.har", systems: Systems.table)
    var quoted: [UInt8] = []
    quoted.append(jsonString: body)
    let entry = #"""
        {"startedDateTime":"\#(started)","request":{"method":"POST",\#
        "url":"https://tiles.services.mozilla.com/v3/links/ping-centre","postData":{"text":\#

        """# + String(decoding: quoted, as: UTF8.self) + #"}},"response":{"status":\#(status)}}"#
    return try #require(reader.read(Array(entry.utf8), index: index).record)
}

/// Tests captured pings.
///
/// The names of tests begin with the section or the case of the format document.
@Suite struct ActivityStreamTests {
    private static let click = #"""
        {"page":"NEW_TAB","topic":"activity-stream-mobile-events","action_position":3,"release_channel":"release",\#
        "client_id":"5B2F9E17-0C4D-4A83-B6E1-97D3C8A0F254","build":"4123","source":"TOP_SITES","event":"CLICK",\#
        "app_version":"8.0","locale":"en_US"}
        """#

    @Test("6.3: An action event is read from an HTTP archive.")
    func single() throws {
        let record = try readEntry(Self.click, started: "2017-06-20T09:15:02.417-07:00", status: 200)
        #expect(
            record.id
                == "sha256:457a866cec2a2c29d400a5599f43088e0c9d382757e553825e667690f3124452@2017-06-20T16:15:02.417Z")
        #expect(record.type == "activity-stream-mobile-events")
        #expect(record.client == "5B2F9E17-0C4D-4A83-B6E1-97D3C8A0F254")
        #expect(record.app == App(version: "8.0", channel: "release", build: "4123"))
        #expect(record.time?.description == "2017-06-20T16:15:02.417Z")
        #expect(record.target == Target(path: "/v3/links/ping-centre"))
        #expect(record.notes == [])
        #expect(record.held.map(\.text) == ["delivered: 200"])
        #expect(record.source == Source(capture: "capture", path: "capture.har", store: .harEntry, index: 0))
    }

    @Test("6.4: A batch becomes one record.")
    func batch() throws {
        let body = #"""
            {"topic":"activity-stream-mobile-events","batch-mode":true,"payloads":[{"event":"MISSING_METADATA_IMAGE",\#
            "page":"NEW_TAB","source":"HIGHLIGHTS","app_version":"8.0","build":"4123","locale":"en_US",\#
            "release_channel":"release"},{"event":"MISSING_FAVICON","page":"NEW_TAB","source":"HIGHLIGHTS",\#
            "app_version":"8.0","build":"4123","locale":"en_US","release_channel":"release"}]}
            """#
        let record = try readEntry(body, started: "2017-06-20T16:15:03.002Z", status: 0)
        #expect(
            record.id
                == "sha256:88f1ea3e7fc8ee131fa37f7aa6651b6407e57cdd61bc9e254afa4f7017660fdf@2017-06-20T16:15:03.002Z")
        #expect(record.client == nil)
        #expect(record.notes == ["batch of 2 payloads without client_id", "no answer was seen"])
        #expect(record.held == [])
    }

    @Test("6.5: A ping without a topic is kept and held.")
    func defective() throws {
        let body = #"""
            {"event":"SHARE","page":"NEW_TAB","source":"HIGHLIGHTS","action_position":0,\#
            "share_provider":"com.apple.UIKit.activity.Mail","app_version":"8.0","build":"4001","locale":"de_DE",\#
            "release_channel":"beta"}
            """#
        let record = try readEntry(body, started: "2017-05-18T12:00:00Z", status: 400)
        #expect(
            record.id
                == "sha256:c60cff3af6c54c59eb3e56c299be7bfba046a55a3bd6ceaac283c58ace928712@2017-05-18T12:00:00.000Z")
        #expect(record.notes == ["topic absent; inferred from event", "client_id absent", "server answered 400"])
        #expect(record.held.map(\.text) == ["schema: topic missing"])
    }

    @Test("7: Sessions are read from lines of NDJSON.")
    func sessions() throws {
        let records = readLines([
            #"""
            {"topic":"activity-stream-mobile-sessions","client_id":"C96D1A3E-7F28-4B05-8E4C-1D0B6F3A9572",\#
            "session_duration":1876,"app_version":"7.0","build":"1","locale":"zh_CN","release_channel":"beta"}
            """#,
            #"""
            {"topic":"activity-stream-mobile-sessions","client_id":"0A7E5C42-B8D1-4963-9F2A-E4C61B8D7035",\#
            "session_duration":1497950000123,"app_version":"8.0","build":"4123","locale":"en_RO",\#
            "release_channel":"release"}
            """#,
        ]).compactMap(\.record)
        #expect(
            records.map(\.id) == [
                "sha256:2a9a9ce6f87d0840942e7cf44eaf11bc2d22bf2a8b64637c03fe88ba91b1fa87",
                "sha256:2fa352e371f8497d36818a0e61c2706523bbe7038bcd4c6323e9b6ba7e8c7c60",
            ])
        #expect(
            records.map(\.notes) == [[], ["session_duration is an absolute time in milliseconds, not a duration"]])
        #expect(records.allSatisfy { $0.held.isEmpty && $0.time == nil && $0.source.store == .ndjsonLine })
        #expect(records.map(\.source.index) == [0, 1])
    }

    @Test("A13: Equal pings of a file are numbered.")
    func repeats() {
        let records = readLines([Self.click, Self.click, Self.click]).compactMap(\.record)
        let id = "sha256:457a866cec2a2c29d400a5599f43088e0c9d382757e553825e667690f3124452"
        #expect(records.map(\.id) == [id, "\(id)#2", "\(id)#3"])
        #expect(records.allSatisfy { $0.contradiction == nil })
    }

    @Test("A13: Equal pings of an archive without times are numbered, whether they were delivered or not.")
    func repeatsOfAnArchive() {
        var quoted: [UInt8] = []
        quoted.append(jsonString: Self.click)
        let entries = [0, 200, 500, 200].map { status in
            #"{"startedDateTime":"","request":{"method":"POST","url":"https://tiles.services.mozilla.com/"# + #"""
                v3/links/ping-centre","postData":{"text":
                """# + String(decoding: quoted, as: UTF8.self) + #"}},"response":{"status":\#(status)}}"#
        }
        let log = #"{"log":{"version":"1.2","entries":["# + entries.joined(separator: ",") + "]}}"
        let records = read(log, kind: .httpArchive, path: "a.har").compactMap(\.record)
        let id = "sha256:457a866cec2a2c29d400a5599f43088e0c9d382757e553825e667690f3124452"
        #expect(records.map(\.id) == [id, "\(id)#2", "\(id)#3", "\(id)#4"])
        #expect(records.map { $0.held.map(\.text) } == [[], ["delivered: 200"], [], ["delivered: 200"]])
    }

    /// A member of the ping above, its replacement, the codes of notes, and the fault.
    private static let variants: [(String, String, [String], String?)] = [
        (#""action_position":3"#, #""action_position":3.0"#, ["A6"], nil),
        (#""action_position":3"#, #""action_position":3.5"#, [], nil),
        (#""action_position":3"#, #""action_position":"3""#, [], "action_position is no number"),
        (#""action_position":3,"#, "", [], nil),
        (#""build":"4123""#, #""build":4123"#, [], "build is no string"),
        (#""build":"4123","#, "", [], "build missing"),
        (#""app_version":"8.0""#, #""app_version":8.0"#, [], "app_version is no string"),
        (#""release_channel":"release","#, "", ["A9"], nil),
        (#""locale":"en_US""#, #""locale":"en-US""#, [], nil),
        (#""event":"CLICK""#, #""event":"PONDER""#, ["5.1"], nil),
        (#""event":"CLICK","#, "", [], "event missing"),
        (#""source":"TOP_SITES""#, #""source":"POCKET""#, [], nil),
        (#""source":"TOP_SITES""#, #""source":"MOON""#, ["5.3"], nil),
        (#""page":"NEW_TAB""#, #""page":"OLD_TAB""#, ["4.4"], nil),
        (#""client_id":"5B2F9E17-0C4D-4A83-B6E1-97D3C8A0F254""#, #""client_id":"""#, ["A12"], nil),
        (#""page":"NEW_TAB""#, #""page":"NEW_TAB","share_provider":1"#, [], "share_provider is no string"),
        (#""page":"NEW_TAB""#, #""page":"NEW_TAB","payloads":[]"#, [], "A3 batch without payloads"),
    ]

    @Test("Variants of a ping get the documented notes and holds.", arguments: variants)
    func variant(member: String, replacement: String, notes: [String], fault: String?) throws {
        let line = Self.click.replacing(member, with: replacement)
        try #require(line != Self.click)
        let record = try #require(readLines([line])[0].record)
        #expect(record.notes.map(\.code) == notes)
        #expect(record.held.map(\.text) == (fault.map { ["schema: \($0)"] } ?? []))
    }

    @Test("A6: A number without a fraction is written as an integer.")
    func integer() throws {
        let line = Self.click.replacing(#""action_position":3"#, with: #""action_position":30e-1"#)
        #expect(try #require(readLines([line])[0].record).text.contains(#""action_position":3,"#))
    }

    @Test("A10: Fields that the server added are removed, and their timestamp becomes the time.")
    func serverKeys() throws {
        let line = Self.click.replacing(
            #""page""#,
            with:
                #""ip":"192.0.2.1","ua":"x","timestamp":1497975302417,"date":"2017-06-20","action":"ping_centre","page""#
        )
        let record = try #require(readLines([line])[0].record)
        #expect(
            record.id
                == "sha256:457a866cec2a2c29d400a5599f43088e0c9d382757e553825e667690f3124452@2017-06-20T16:15:02.417Z")
        #expect(record.notes == ["A10 action, date, ip, timestamp, ua: added by the server, left out"])
    }

    @Test("A4: A batch without batch-mode is noted.")
    func noBatchMode() throws {
        let line = #"""
            {"topic":"activity-stream-mobile-events","payloads":[{"event":"MISSING_FAVICON","page":"NEW_TAB",\#
            "source":"HIGHLIGHTS","app_version":"8.0","build":"1","locale":"en_US","release_channel":"beta"}]}
            """#
        let record = try #require(readLines([line])[0].record)
        #expect(record.notes.map(\.code) == ["A4", "batch"])
        #expect(record.held == [])
    }

    @Test("A14: Pings of other clients are counted.")
    func otherTopic() {
        #expect(readLines([#"{"topic":"activity-stream"}"#])[0].other == .otherTopic)
    }
}
