import JSONText
import Telemetry
import TestSupport
import Testing

@testable import Leanplum

private let device = "610A1520-4D47-498E-B20F-F3B46216372B"
private let batch = "36E2F24B-4300-4DE0-9B2E-D40ED3ADDCCB"

/// Tests combining items into uploads: sections C.2, E.4 and H of the format document.
@Suite struct LeanplumRequestsTests {
    private func read(
        _ rows: [String], limits: LeanplumRequests.Limits = LeanplumRequests.Limits()
    ) -> ScanOutput {
        let source = Source(capture: "c", path: "Documents/__leanplum.sqlite", store: .leanplumSQLite, index: 0)
        var requests = LeanplumRequests(from: source, limits: limits)
        var output = ScanOutput(capture: "c")
        for (index, row) in rows.enumerated() {
            withoutErrors { try requests.append(Array(row.utf8), rowid: Int64(index + 1), into: &output) }
        }
        withoutErrors { try requests.finish(into: &output) }
        #expect(requests.itemCount == rows.count)
        return output
    }

    private func request(_ number: Int, _ more: String = "", device: String = "D", uuid: String = "U") -> String {
        """
        {"action":"track","deviceId":"\(device)","uuid":"\(uuid)","time":"1580000000.250000","reqId":"R\(number)"\(more)}
        """
    }

    private func data(_ record: Record) throws -> [String] {
        let document = try JSONDocument(record.payload)
        let list = try #require(document.value(of: "data", in: document.root))
        return document.elements(of: list).map { String(decoding: document.canonicalBytes(of: $0), as: UTF8.self) }
    }

    @Test func notesBeyondTheLimitAreCounted() {
        let rows = [String](repeating: request(1), count: 20)
        let record = read(rows, limits: LeanplumRequests.Limits(noteCount: 5)).records.first
        let all = read(rows).records.first?.notes ?? []
        #expect(all.count >= 19)
        #expect(record?.notes == all.prefix(5) + ["\(all.count - 5) more notes"])
    }

    // MARK: Worked examples

    @Test func workedExamplesOfADatabase() throws {
        let start = #"""
            {"region":"(detect)","deviceId":"D","richPushEnabled":false,"userId":"D","action":"start","location":"(detect)","sdkVersion":"2.7.2","uuid":"U","client":"ios","devMode":false,"systemVersion":"13.3","includeDefaults":false,"time":"1580000000.250000","systemName":"iOS","locale":"zh-Hant-TW_TW","timezoneOffsetSeconds":28800,"country":"(detect)","deviceName":"","deviceModel":"iPhone9,3","versionName":"18099","userAttributes":"{\"Focus Installed\":true,\"Mailto Is Default\":true}","newsfeedMessages":[],"timezone":"Asia\/Taipei","reqId":"8692C6F3-3E0D-46B7-80DD-FED8411FF179","city":"(detect)"}
            """#
        let track = #"""
            {"reqId":"A76ACE09-A728-400E-A6A4-CCECF6772033","event":"E_Opened_New_Tab","info":"Füße \/ 書","params":"{\"Source\":\"Tab Tray\"}","userId":"D","deviceId":"D","action":"track","client":"ios","sdkVersion":"2.7.2","time":"1580000012.000071","devMode":false,"value":"0.000000","token":"nksZ5pa0R5iegC7wj","uuid":"U"}
            """#
        let shown = #"""
            {"action":"track","client":"ios","devMode":false,"deviceId":"D","messageId":"5111602214338560","reqId":"0E6B2F5A-9B1C-4B6E-8E0D-0F3C5A7D9E11","sdkVersion":"2.7.2","time":"1580000013.500000","token":"nksZ5pa0R5iegC7wj","userId":"D","uuid":"U","value":"0.000000"}
            """#
        let rows = [start, track, shown].map {
            $0.replacing("\"D\"", with: "\"\(device)\"").replacing("\"U\"", with: "\"\(batch)\"")
        }
        let output = read(rows)
        let record = try #require(output.records.first)
        #expect(output.records.count == 1)
        #expect(record.id == "sha256:d2be018b70d4f7871900cb00fc267ae62ec43f889e5da7ccfa3fb43566eb37bf")
        #expect(record.client == device)
        #expect(record.time?.description == "2020-01-26T00:53:20.250Z")
        #expect(record.app == App(version: "18099"))
        #expect(record.target == Target(path: "/api"))
        #expect(record.type == "multi")
        #expect(record.notes.isEmpty && record.held.isEmpty && record.contradiction == nil)
        #expect(output.rejects.isEmpty)
        #expect(try data(record)[0].contains(#""timezone":"Asia/Taipei","timezoneOffsetSeconds":28800"#))
        let document = try JSONDocument(record.payload)
        var check = PayloadCheck(document, .terse)
        check.check(document.root, .object(LeanplumFields.payload))
        #expect(check.findings.faults == [])
        #expect(check.unknownKeys == [])
    }

    @Test func minimalPayload() throws {
        let output = read([
            #"{"action":"heartbeat","client":"ios","deviceId":"D","devMode":false,"time":"1580000000.250000"}"#
        ])
        let record = try #require(output.records.first)
        let canonical =
            #"{"data":[{"action":"heartbeat","client":"ios","devMode":false,"deviceId":"D","time":"1580000000.250000"}]}"#
        #expect(String(decoding: record.payload, as: UTF8.self) == canonical)
        #expect(record.id == "sha256:9081232af431a713b3f5088c8025cf82a1c93819f363b72f4c89448265b7c683")
    }

    @Test(
        "Rows that are not requests are rejected.",
        arguments: [
            (#"{"action":"track","event":"E_Opened_App""#, "invalid_json"), ("{}", "empty_object"),
            (" { } ", "empty_object"),
            (#"[{"action":"track"}]"#, "not_object"), ("5", "not_object"), ("null", "not_object"), ("", "invalid_json"),
            ("{\"action\":\"stop\"}\0{}", "embedded_nul"), ("{\"action\":\"a\0b\"}", "embedded_nul"),
            (#"{"a":"\udc8b"}"#, "invalid_json"), (#"{"a":NaN}"#, "invalid_json"),
            (#"{"a":\#(String(repeating: "[", count: 512))"#, "too_deep"),
            (#"{"deviceId":"D","time":"1.000000"}"#, "missing_action"),
            (#"{"action":"","deviceId":"D","time":"1.000000"}"#, "missing_action"),
        ])
    func rejectedRows(row: String, reason: String) {
        let output = read([row])
        #expect(output.records.isEmpty)
        #expect(output.rejects.map { String($0.reason.prefix { $0 != " " }) } == [reason])
        #expect(output.rejects.first?.reason.contains("item 0, rowid 1") == true)
    }

    @Test func malformedUTF8IsRejected() {
        var requests = LeanplumRequests(
            from: Source(capture: "c", path: "p", store: .leanplumSQLite, index: 0))
        var output = ScanOutput(capture: "c")
        withoutErrors { try requests.append(Array("{\"action\":\"".utf8) + [0xFF] + Array("\"}".utf8), into: &output) }
        #expect(output.rejects.map(\.reason) == ["invalid_utf8 item 0: malformed UTF-8 at byte 11"])
    }

    // MARK: Runs

    @Test func recordEndsIfDeviceModeOrBatchChanges() throws {
        let output = read([
            request(0), request(1), request(2, device: "E"), request(3, device: "E", uuid: "V"),
            request(4, #","devMode":true"#), request(5, #","devMode":true"#), request(6),
        ])
        #expect(try output.records.map { try data($0).count } == [2, 1, 1, 2, 1])
        #expect(output.records.map(\.source.index) == [0, 2, 3, 4, 6])
        #expect(output.records.map(\.client) == ["D", "E", "E", "D", "D"])
    }

    @Test func missingAndNullMembersAreEqual() {
        let rows = [
            #"{"action":"stop","time":"1.0","reqId":"a","deviceId":"D"}"#,
            #"{"action":"stop","time":"1.0","reqId":"b","deviceId":"D","uuid":null,"devMode":null}"#,
        ]
        #expect(read(rows).records.count == 1)
    }

    @Test(arguments: [(1, [1, 1, 1, 1, 1]), (2, [2, 2, 1]), (5, [5]), (10_000, [5])])
    func numberOfRequestsIsLimited(limit: Int, counts: [Int]) throws {
        let output = read((0..<5).map { request($0) }, limits: LeanplumRequests.Limits(requestCount: limit))
        #expect(try output.records.map { try data($0).count } == counts)
    }

    @Test func numberOfBytesIsLimited() throws {
        let rows = (0..<9).map { request($0) }
        let size = rows[0].utf8.count
        let output = read(rows, limits: LeanplumRequests.Limits(byteCount: 3 * size + 20))
        #expect(output.records.count == 3)
        #expect(output.records.allSatisfy { $0.payload.count <= 3 * size + 20 + 2 })
        #expect(try output.records.flatMap { try data($0) }.count == 9)
    }

    // MARK: Issues

    @Test(
        "Unexpected values are noted with the index of the item and kept.",
        arguments: [
            (#"{"action":"fly","deviceId":"D","time":"1.0"}"#, ["unknown_action@0"]),
            (#"{"action":"stop","deviceId":"D"}"#, ["bad_time@0"]),
            (#"{"action":"stop","deviceId":"D","time":1.5}"#, ["bad_time@0"]),
            (#"{"action":"stop","deviceId":"D","time":"1.497595093902E9"}"#, ["bad_time@0"]),
            (#"{"action":"stop","deviceId":"D","time":"1."}"#, ["bad_time@0"]),
            (#"{"action":"stop","deviceId":"","time":"1"}"#, ["missing_device_id@0"]),
            (#"{"action":"stop","time":"1"}"#, ["missing_device_id@0"]),
            (#"{"action":"track","deviceId":"D","time":"1","value":"much"}"#, ["bad_value@0"]),
            (#"{"action":"track","deviceId":"D","time":"1","value":"-inf"}"#, []),
            (#"{"action":"track","deviceId":"D","time":"1","value":7}"#, []),
            (
                #"{"action":"track","deviceId":"D","time":"1","params":"{no","vars":"["}"#,
                [
                    "bad_nested_json:params@0", "bad_nested_json:vars@0",
                ]
            ),
            (#"{"action":"track","deviceId":"D","time":"1","params":"","userAttributes":{}}"#, []),
            (#"{"action":"fly","deviceId":"","time":"x"}"#, ["bad_time@0", "missing_device_id@0", "unknown_action@0"]),
        ])
    func issues(row: String, notes: [String]) {
        let output = read([row])
        #expect(output.records.map(\.notes) == [notes])
        #expect(output.rejects.isEmpty)
    }

    @Test(arguments: [
        ("1497595093.902999", "2017-06-16T06:38:13.902Z"), ("0", "1970-01-01T00:00:00.000Z"),
        ("253402300799.999999", "9999-12-31T23:59:59.999Z"),
    ])
    func timeIsTruncated(text: String, time: String) {
        let output = read([#"{"action":"stop","deviceId":"D","time":"\#(text)"}"#])
        #expect(output.records.map { $0.time?.description } == [time])
    }

    @Test(arguments: ["253402300800.000000", String(repeating: "9", count: 400)])
    func timeOutOfRangeIsUnknown(text: String) {
        #expect(read([#"{"action":"stop","deviceId":"D","time":"\#(text)"}"#]).records.map(\.time) == [nil])
    }

    @Test func repeatedRequestIsOmittedAndNoted() throws {
        let output = read([request(0), request(1), request(0), request(2, uuid: "V"), request(1)])
        #expect(try output.records.map { try data($0).count } == [2, 1])
        #expect(output.records.map(\.notes) == [["duplicate_request@2"], ["duplicate_request@4"]])
        #expect(output.rejects.isEmpty)
    }

    @Test func repeatedRequestIDWithOtherContentIsRejected() throws {
        let output = read([request(0), request(0, #","event":"E""#)])
        #expect(try output.records.map { try data($0).count } == [1])
        #expect(output.records.map(\.notes) == [["duplicate_request@1"]])
        #expect(output.rejects.map(\.reason) == ["duplicate_request item 1, rowid 2: another request has its reqId"])
    }

    @Test func requestsWithoutIDAreComparedByContent() throws {
        let rows = [
            #"{"action":"stop","time":"1.0","deviceId":"D"}"#, #"{"deviceId":"D","action":"stop","time":"1.0"}"#,
            #"{"action":"stop","time":"2.0","deviceId":"D"}"#,
        ]
        let output = read(rows)
        #expect(try output.records.map { try data($0).count } == [2])
        #expect(output.records.map(\.notes) == [["duplicate_request@1"]])
    }

    @Test func notesBeforeFirstRecordAreAddedToIt() {
        let output = read([#"{"deviceId":"D","time":"1.0","reqId":"x"}"#, request(1)])
        #expect(output.records.map(\.notes) == [["missing_action@0"]])
        #expect(output.records.map(\.source.index) == [1])
    }

    // MARK: Texts

    @Test func lastOfEqualKeysIsUsed() {
        let output = read([#"{"action":"stop","time":"1.0","deviceId":"D","a":1,"a":2.50}"#])
        let payload = output.records.map { String(decoding: $0.payload, as: UTF8.self) }
        #expect(payload == [#"{"data":[{"a":2.50,"action":"stop","deviceId":"D","time":"1.0"}]}"#])
    }

    @Test func byteOrderMarkIsIgnored() throws {
        #expect(read(["\u{FEFF}" + request(0)]).records.count == 1)
    }

    @Test func requestWithMaximumDepthIsReadBack() throws {
        let levels = String(repeating: "[", count: 509) + String(repeating: "]", count: 509)
        #expect(read([request(0, ",\"deep\":[\(levels)]")]).rejects.map { $0.reason.prefix(9) } == ["too_deep "])
        let record = try #require(read([request(0, ",\"deep\":\(levels)")]).records.first)
        var line: [UInt8] = []
        record.write(to: &line)
        var document = JSONDocument()
        #expect(try Record(line: Array(line.dropLast()), using: &document) == record)
    }

    @Test func onlyFirstRejectedItemsAreNamed() {
        let output = read(Array(repeating: "5", count: 250))
        #expect(output.rejects.count == 101)
        #expect(output.rejects.last?.reason == "skipped 150 more items that are no requests")
    }

    @Test func recordEndsAtLostRows() throws {
        var requests = LeanplumRequests(
            from: Source(capture: "c", path: "p", store: .leanplumSQLite, index: 0))
        var output = ScanOutput(capture: "c")
        withoutErrors { try requests.append(Array(request(0).utf8), rowid: 1, into: &output) }
        withoutErrors { try requests.endRecord(noting: "corrupt rows of rowid 2 to 5 cannot be read", into: &output) }
        withoutErrors { try requests.append(Array(request(5).utf8), rowid: 6, into: &output) }
        withoutErrors { try requests.finish(into: &output) }
        #expect(output.records.map(\.notes) == [[], ["corrupt rows of rowid 2 to 5 cannot be read"]])
        #expect(output.records.map(\.source.index) == [0, 1])
    }

    // MARK: Targets and names

    @Test(arguments: ["/api", "/api?x=1", "/", "//host/api", "https://api.leanplum.com/api"])
    func onlyDefaultTargetIsKnown(path: String) {
        #expect(Target(path: path).isKnown(to: .leanplum) == (path == "/api"))
        #expect(!Target(path: "/api", method: "GET").isKnown(to: .leanplum))
    }

    @Test func names() {
        #expect(LeanplumFileName(file: "__leanplum.sqlite") == .database)
        #expect(LeanplumFileName(file: "_lprequests-app_x") == .requests(applicationID: "app_x"))
        #expect(LeanplumFileName(file: "_lprequests-(null)") == .requests(applicationID: nil))
        for name in ["__leanplum (1).sqlite", "__leanplum(1).sqlite", "__leanplum copy.sqlite"] {
            #expect(LeanplumFileName(file: name) == .database)
            #expect(LeanplumFileName.mayBelongToStore(name + "-wal"))
        }
        for name in ["_lprequests-app_x (1)", "_lprequests-app_x copy", "_lprequests-app_x(2)"] {
            #expect(LeanplumFileName(file: name) == .requests(applicationID: "app_x"))
        }
        #expect(LeanplumFileName(file: "_lprequests-(null) (1)") == .requests(applicationID: nil))
        for name in [
            "__leanplum.sqlite-wal", "_lprequests-", "__Leanplum.sqlite", "x_lprequests-a", "__leanplum2.sqlite",
        ] {
            #expect(LeanplumFileName(file: name) == nil)
        }
        #expect(LeanplumFileName.mayBelongToStore("__leanplum.sqlite-journal"))
        #expect(!LeanplumFileName.mayBelongToStore("__leanplum.sqlite-shm"))
    }
}
