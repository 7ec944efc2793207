import Capture
import Foundation
import Telemetry
import TestSupport
import Testing

/// Tests requests of Adjust's SDK in request logs: forms that are the payload, and header fields whose values are secret.
@Suite struct AdjustRequestTests {
    private static let form = "app_token=a&created_at=2018-12-10T06%3A30%3A00.005Z-0500&event_token=g3mfiw"
    private static let payload =
        #"{"app_token":"a","created_at":"2018-12-10T06:30:00.005Z-0500","event_token":"g3mfiw"}"#
    private static let sdk = #"{"name":"Client-Sdk","value":"ios4.17.1"}"#

    private func entry(_ data: String, headers: String = "[\(sdk)]") -> [UInt8] {
        archive(
            #"""
            {"startedDateTime":"2018-12-10T11:30:01Z","request":{"method":"POST","url":"https://app.adjust.com/event",\#
            "headers":\#(headers),"postData":{\#(data)}},"response":{"status":0}}
            """#)
    }

    private func line(_ body: String, headers: String) -> [UInt8] {
        Array(#"{"url":"https://app.adjust.com/event","headers":\#(headers),"body":\#(body)}"#.utf8)
    }

    // MARK: Headers

    @Test(
        "The presence of a secret header field matters, and its value is not read",
        arguments: [
            (#"[{"name":"AUTHORIZATION","value":"SECRET"}]"#, true), (#"[["authorization","SECRET"]]"#, true),
            (#"[{"name":"Authorization","value":""}]"#, true), (#"[{"name":"Authorization"}]"#, true),
            (#"[{"name":"Authorization","value":["SECRET"]}]"#, true),
            (#"[{"name":"Authorization","value":"SECRET"},{"name":"authorization","value":"SECRET"}]"#, true),
            (#"[{"name":"Proxy-Authorization","value":"SECRET"},{"name":"Cookie","value":"SECRET"}]"#, false),
            ("[]", false), ("null", false),
        ])
    func secretHeaders(headers: String, isSigned: Bool) async throws {
        let logs = [
            try await ReadLog(entry(#""text":"\#(Self.form)""#, headers: headers)),
            try await ReadLog(line(#""\#(Self.form)""#, headers: headers), kind: .lines, path: "a.ndjson"),
        ]
        for log in logs {
            let record = try #require(log.records.first)
            #expect(record.heldCodes.contains("signature") == isSigned)
            #expect(record.text == Self.payload)
            #expect(!String(decoding: log.lines, as: UTF8.self).contains("SECRET"))
        }
    }

    @Test("A line can list its header fields as an object")
    func headerObject() async throws {
        let headers = #"{"Client-Sdk":"ios4.17.1","Authorization":"SECRET"}"#
        let log = try await ReadLog(line(Self.payload, headers: headers), kind: .lines, path: "a.ndjson")
        let record = try #require(log.records.first)
        #expect(record.heldCodes == ["attribution", "signature"])
        #expect(record.target == Target(path: "/event", headers: ["Client-Sdk": "ios4.17.1"]))
        #expect(record.text == Self.payload)
    }

    // MARK: Forms

    private static let encoded = #"{"name":"created_at","value":"2018-12-10T06%3A30%3A00.005Z-0500"}"#
    private static let decoded = #"{"name":"created_at","value":"2018-12-10T06:30:00.005Z-0500"}"#
    private static let others = #"{"name":"event_token","value":"g3mfiw"},{"name":"app_token","value":"a"}"#

    @Test(
        "A form is read from its text, or from its fields if there is no text",
        arguments: [
            #""text":"\#(form)""#, #""text":"\#(form)\r\n""#, #""text":"\#(Data(form.utf8).base64EncodedString())""#,
            #""text":"\#(form)","params":[{"name":"app_token","value":"b"}]"#,
            #""params":[\#(encoded),\#(others)]"#, #""text":"","params":[\#(decoded),\#(others)]"#,
            #""params":[\#(decoded),\#(others),{"name":"sent_at","value":"x"}]"#,
            #"""
            "encoding":"base64","text":"YXBwX3Rva2VuPWEmY3JlYXRlZF9hdD0yMDE4LTEyLTEwVDA2JTNBMzAlM0EwMC4wMDVaLTA1MDAmZXZl\#
            bnRfdG9rZW49ZzNtZml3"
            """#,
        ])
    func forms(data: String) async throws {
        let log = try await ReadLog(entry(data))
        #expect(log.records.map(\.text) == [Self.payload], "\(log.quarantined)")
        #expect(log.records.allSatisfy { $0.heldCodes == ["attribution"] && $0.contradiction == nil })
    }

    @Test("Fields that are decoded are not decoded again")
    func decodedFields() async throws {
        let plain = #"{"name":"app_token","value":"a+b%20"}"#
        let records = try await [Self.decoded, Self.encoded].asyncRecords { time in
            try await ReadLog(entry(#""params":[\#(time),\#(plain)]"#)).records
        }
        #expect(records.map { $0.text.contains(#""app_token":"a+b%20""#) } == [true, false])
        #expect(records.map { $0.text.contains(#""app_token":"a b ""#) } == [false, true])
    }

    @Test(
        "A form that cannot be read is rejected",
        arguments: [
            (#""text":"app_token=a&app_token=b""#, "body_invalid"), (#""text":"app_token=%zz""#, "body_invalid"),
            (#""text":"app_token=%ff""#, "body_invalid"), (#""text":"app_token""#, "body_invalid"),
            (#""text":"app_token=a&""#, "body_invalid"), (#""params":[{"name":"app_token"}]"#, "body_invalid"),
            (#""params":[{"value":"a"}]"#, "body_invalid"), (#""params":[{"name":"a","value":7}]"#, "body_invalid"),
            (#""params":["a"]"#, "body_invalid"),
            (#""params":[{"name":"a","value":"1"},{"name":"%61","value":"1"}]"#, "body_invalid"),
            (#""params":[]"#, "body_missing"), (#""text":"""#, "body_missing"), (#""mimeType":"x""#, "body_missing"),
        ])
    func rejected(data: String, code: String) async throws {
        let log = try await ReadLog(entry(data))
        #expect(log.records.isEmpty)
        #expect(log.reasonCodes == [code])
        #expect(log.quarantined.allSatisfy { !$0.isStored })
    }

    @Test(
        "A line with a body that cannot be read is rejected, and one without an address is unknown",
        arguments: [
            (#"{"url":"https://app.adjust.com/event","body":"app_token"}"#, "line_invalid"),
            (#"{"url":"https://app.adjust.com/event","body":"a=1&a=1"}"#, "line_invalid"),
            (#"{"url":"https://app.adjust.com/event","body":""}"#, "line_invalid"),
            (#"{"url":"https://app.adjust.com/event"}"#, "line_unknown"), (payload, "line_unknown"),
        ])
    func rejectedLines(line: String, code: String) async throws {
        let log = try await ReadLog(Array(line.utf8), kind: .lines, path: "a.ndjson")
        #expect(log.records.isEmpty)
        #expect(log.reasonCodes == [code])
    }
}

extension Array where Element == String {
    /// Returns the records that `read` returns for each string.
    fileprivate func asyncRecords(_ read: (String) async throws -> [Record]) async throws -> [Record] {
        var records: [Record] = []
        for text in self { records += try await read(text) }
        return records
    }
}
