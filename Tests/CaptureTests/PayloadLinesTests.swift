import ActivityStream
import Bundle
import Capture
import Files
import Foundation
import Leanplum
import Mozilla
import Sift
import Telemetry
import TestSupport
import Testing

@Suite struct PayloadLinesTests {
    private func read(_ text: String) async throws -> ReadLog {
        try await ReadLog(Array(text.utf8), kind: .lines, path: "a.ndjson")
    }

    private static let session = #"""
        {"topic":"activity-stream-mobile-sessions","client_id":"C","session_duration":1,"app_version":"7.0","build":"1",\#
        "locale":"zh_CN","release_channel":"beta"}
        """#

    @Test("Lines end with LF or CR LF, empty lines are numbered, and the last line needs no line ending")
    func lineEnds() async throws {
        let log = try await read("\u{FEFF}\(Self.session)\r\n\n \t\n\(Self.session)\n\r\n\(Self.session)")
        #expect(log.records.map(\.source.index) == [0, 3, 5])
        #expect(log.quarantined.isEmpty)
    }

    @Test("An invalid line is reported with its location, and the others are read")
    func brokenLines() async throws {
        let text = "\(Self.session)\n{\"topic\":\n7\n{\"a\":1}\n\(Self.session)\n"
        let bytes = Array(text.utf8)
        let log = try await read(text)
        #expect(log.records.map(\.source.index) == [0, 4])
        #expect(log.reasonCodes == ["line_invalid", "line_unknown", "line_unknown"])
        #expect(log.quarantined[0].reject.reason.hasPrefix("line_invalid line 2: "))
        #expect(
            log.quarantined.map { String(decoding: bytes[$0.reject.range(inFileOf: bytes.count)], as: UTF8.self) }
                == ["{\"topic\":", "7", "{\"a\":1}"])
    }

    /// Lines with their expected system, type, target and hold code.
    private static let shapes: [(String, SystemName, String, String?, String?)] = [
        (session, .activityStream, "activity-stream-mobile-sessions", "/v3/links/ping-centre", nil),
        (
            CaptureFolder.ping(), .mozilla, "core",
            "/submit/telemetry/\(CaptureFolder.id(1))/core/Focus/5.0/release/2?v=4", nil
        ),
        (#"{"data":[{"action":"heartbeat","deviceId":"A"}]}"#, .leanplum, "multi", "/api", nil),
        (#"{"data":[{"time":1,"installation_id":"A"}]}"#, .sift, "mobile_events", nil, "no-target"),
        (#"{"data":[{"time":1,"fields":{"a":1}}]}"#, .sift, "mobile_events", nil, "schema"),
        (#"{"data":[{"time":-1}]}"#, .sift, "mobile_events", nil, "schema"),
        (#"{"v":7,"clientId":"A","seq":1}"#, .mozilla, "core", nil, "schema"),
        (#"{"v":1,"clientId":"A","events":[]}"#, .mozilla, "focus-event", nil, "schema"),
        (
            #"{"url":"https://api3.siftscience.com/v3/accounts/a/mobile_events","body":{"data":[{"time":1}]}}"#, .sift,
            "mobile_events", "/v3/accounts/a/mobile_events", nil
        ),
        (
            #"{"url":"https://api.leanplum.com/api","payload":"action=multi&data=%7B%22data%22%3A%5B%5D%7D&clientKey=K"}"#,
            .leanplum, "multi", "/api", nil
        ),
        (
            #"{"url":"https://api.leanplum.com/api","body":"{\"data\":[]}","status":200}"#, .leanplum, "multi", "/api",
            "delivered"
        ),
    ]

    @Test("The contents of a line are recognized by its keys", arguments: shapes)
    func shape(line: String, system: SystemName, type: String, target: String?, hold: String?) async throws {
        let log = try await read(line)
        let record = try #require(log.records.first, "\(log.quarantined)")
        #expect(record.system == system)
        #expect(record.type == type)
        #expect(record.target?.path == target)
        #expect(record.held.first?.code == hold)
        #expect(record.contradiction == nil)
        #expect(record.source.store == .ndjsonLine)
    }

    @Test(
        "Requests to other servers are counted",
        arguments: [
            (#"{"url":"https://example.org/api","body":{}}"#, "other-traffic"),
            (#"{"url":"https://api.leanplum.com/api","body":"action=start"}"#, "leanplum_single_call"),
            (#"{"url":"https://tiles.services.mozilla.com/v3/links/activity-stream","body":{}}"#, "onyx"),
            (#"{"topic":"main"}"#, "other-topic"),
        ])
    func others(line: String, code: String) async throws {
        let log = try await read(line)
        #expect(log.records.isEmpty)
        #expect(log.problems.map(\.code) == [code])
        #expect(log.quarantined.isEmpty)
    }

    @Test("Times of requests are in RFC 3339 or in milliseconds")
    func times() async throws {
        let times = [
            #""2017-06-20T16:15:02.417Z""#, "1497975302417", "1.497975302417E12", #""x""#, "-1", "1.5", "null",
        ]
        let lines = times.map { #"{"url":"https://api.leanplum.com/api","time":\#($0),"body":{"data":[]}}"# }
        let records = try await read(lines.joined(separator: "\n")).records
        let time = "2017-06-20T16:15:02.417Z"
        #expect(records.map { $0.time?.description } == [time, time, time, nil, nil, nil, nil])
        let note = ["bad_time the line tells no instant"]
        #expect(records.map(\.notes) == [[], [], [], note, note, note, []])
    }

    @Test("A captured request of Leanplum whose time cannot be read has a note")
    func leanplumTimes() async throws {
        let times = [
            #""1497595093.902000""#, #""1.497595093902E9""#, #""soon""#, #""1e400""#, #""-1""#, "1497595093.902",
            "null",
        ]
        let items =
            times.map { #"{"action":"stop","deviceId":"A","time":\#($0)}"# } + [
                #"{"action":"stop","deviceId":"A"}"#
            ]
        let log = try await read(#"{"data":[\#(items.joined(separator: ","))]}"#)
        #expect(log.records.map(\.notes) == [(2...7).map { "bad_time@\($0)" }])
    }

    @Test("Messages of Mozilla's data pipeline are requests with a path and a body in base64")
    func pipelineMessages() async throws {
        let path = "/submit/telemetry/\(CaptureFolder.id(1))/core/Focus/5.0/release/2"
        let body = #"{"clientId":"4F8E2D6A-1B7C-4E39-8A50-C2D7F1B6E083","seq":1,"v":7}"#
        let folder = try CaptureFolder()
        try folder.put("body", body)
        let output = try tool(["bash", "-c", #"gzip -c "$0" | base64 -w 0"#, "\(folder.path)/body"])
        let compressed = String(decoding: output, as: UTF8.self)
        let plain = Data(body.utf8).base64EncodedString()
        func message(_ attributes: String, _ payload: String) -> String {
            #"{"attributeMap":{\#(attributes)},"payload":"\#(payload)"}"#
        }
        let log = try await read(
            [
                message(
                    #""uri":"\#(path)","args":"v=4","method":"POST","submission_timestamp":"2020-03-04T08:45:06.417123Z""#,
                    compressed),
                message(#""uri":"\#(path)?v=4","x_forwarded_for":"192.0.2.7""#, plain),
                message(
                    #""uri":"/api""#, Data("action=multi&data=%7B%22data%22%3A%5B%5D%7D".utf8).base64EncodedString()),
                message(#""uri":"\#(path)""#, "!"), message(#""uri":"/other""#, plain), message(#""uri":7"#, plain),
                message(#""uri":"\#(path)""#, "W10="),
            ].joined(separator: "\n"))
        #expect(log.records.map(\.system) == [.mozilla, .mozilla, .leanplum])
        #expect(log.records.prefix(2).allSatisfy { $0.target?.path == "\(path)?v=4" })
        #expect(log.records.map { $0.time?.description } == ["2020-03-04T08:45:06.417Z", nil, nil])
        #expect(log.records.allSatisfy { record in !record.held.contains { $0.code == "delivered" } })
        #expect(log.reasonCodes == ["line_invalid", "line_invalid"])
        #expect(!String(decoding: log.lines, as: UTF8.self).contains("192.0.2.7"))
    }

    @Test("A line beyond the limit is reported, and the next one is read")
    func longLine() async throws {
        let long = "{\"a\":\"" + String(repeating: "x", count: 5000) + "\"}"
        let log = try await read("\(long)\n\(Self.session)")
        #expect(log.records.map(\.source.index) == [1])
        #expect(log.reasonCodes == ["line_too_large"])
        #expect(log.quarantined.first?.size == long.utf8.count)
    }

    @Test(
        "The format of a file is detected from its contents or its name",
        arguments: [
            (session, "x", RequestLogKind.lines), ("\n\(session)", "x", .lines), ("{\n\n" + session, "x", .lines),
            (#"{"log":{"entries":[]}}"#, "x", .httpArchive), (#"{"log":{"pages":[]}}"#, "x.ndjson", .httpArchive),
            ("name\u{0}\n" + session, "x", nil), ("", "a.har", .httpArchive), ("[]", "a.har.gz", .httpArchive),
            ("", "a.jsonl", .lines), ("{}", "a", nil),
            (CaptureFolder.ping(), "a", nil), (CaptureFolder.ping(), "a.ndjson", .lines), ("", "", nil),
        ] as [(String, String, RequestLogKind?)])
    func kinds(text: String, name: String, kind: RequestLogKind?) throws {
        #expect(try RequestLogKind(ByteSource(Array(text.utf8)), named: name) == kind)
    }
}
