import Bytes
import Foundation
import JSONText
import Telemetry
import TestSupport
import Testing

@testable import Adjust

/// Tests uploads and their answers.
///
/// Source: "Adjust iOS SDK: the package queue on disk, records, upload", sections 7.2, 7.4 and 10.
@Suite struct AdjustUploadTests {
    private let uploads: any UploadFormat = AdjustSystem().uploads
    /// The instant 2018-12-10T11:30:00.005Z.
    private let now = Timestamp(clamping: 1_544_441_400_005)

    private func content(_ payload: String) throws -> RequestContent {
        try uploads.content(of: Array(payload.utf8), credential: .none, now: now)
    }

    private func body(_ payload: String) throws -> String {
        String(decoding: try content(payload).body, as: UTF8.self)
    }

    // MARK: Requests

    @Test("The body is a form in canonical order with the time of sending")
    func form() throws {
        let content = try content(
            #"""
            {"app_token":"4w565xzmb54d","bundle_id":"com.example.kiosk","callback_params":"{\"sku\":\"A\\/7\"}",\#
            "created_at":"2018-12-10T06:30:00.005Z-0500","currency":"EUR","environment":"production",\#
            "event_token":"g3mfiw","persistent_ios_uuid":"5f0d1c7a-2b94-4e0c-9d3e-8a61b7c2f415","revenue":"12.50000"}
            """#)
        #expect(uploads.method == "POST" && uploads.credentials == nil && uploads.list == nil)
        #expect(content.headers == [HeaderField("Content-Type", "application/x-www-form-urlencoded")])
        #expect(!content.isCompressed)
        #expect(
            String(decoding: content.body, as: UTF8.self) == """
                app_token=4w565xzmb54d&bundle_id=com.example.kiosk&callback_params=%7B%22sku%22%3A%22A%5C%2F7%22%7D\
                &created_at=2018-12-10T06%3A30%3A00.005Z-0500&currency=EUR&environment=production&event_token=g3mfiw\
                &persistent_ios_uuid=5f0d1c7a-2b94-4e0c-9d3e-8a61b7c2f415&revenue=12.50000\
                &sent_at=2018-12-10T11%3A30%3A00.005Z%2B0000
                """)
    }

    @Test("All bytes of names and values are encoded, except for letters, digits and four characters")
    func encoding() throws {
        let text = String(String.UnicodeScalarView((UInt32(0)..<0x180).compactMap { UnicodeScalar($0) }))
        let unreserved = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~".utf8)
        let encoded = text.utf8.map { byte in
            unreserved.contains(byte) ? String(Character(UnicodeScalar(byte))) : String(format: "%%%02X", Int(byte))
        }.joined()
        var payload = CanonicalObject()
        payload.set(JSONKey(text), text)
        let body = try uploads.content(of: payload.bytes, credential: .none, now: now).body
        let sent = "sent_at=2018-12-10T11%3A30%3A00.005Z%2B0000"
        #expect(String(decoding: body, as: UTF8.self) == "\(encoded)=\(encoded)&\(sent)")
        #expect(encoded.contains("%20") && encoded.contains("%C3%A9") && !encoded.contains("+"))
    }

    @Test(
        "Empty names and values are sent as they are",
        arguments: [
            ("{}", ""), (#"{"a":""}"#, "a=&"), (#"{"":"x"}"#, "=x&"), (#"{"a":"1","b":"2"}"#, "a=1&b=2&"),
        ])
    func emptyStrings(payload: String, form: String) throws {
        #expect(try body(payload) == "\(form)sent_at=2018-12-10T11%3A30%3A00.005Z%2B0000")
    }

    @Test(
        "A payload with a value that is no string is rejected",
        arguments: [
            #"{"a":1}"#, #"{"a":null}"#, #"{"a":true}"#, #"{"a":["1"]}"#, #"{"a":{"b":"1"}}"#, #"{"a":"1","b":1}"#,
            "[]", #""a""#, "", "a=1", #"{"a":"1""#,
        ])
    func otherValues(payload: String) {
        #expect(throws: RequestError.payload) { try content(payload) }
    }

    @Test("Some types have their own servers")
    func servers() {
        #expect(uploads.endpoint == "https://app.adjust.com")
        #expect(
            uploads.endpointsOfTypes == [
                "gdpr": "https://gdpr.adjust.com", "subscription": "https://subscription.adjust.com",
                "purchase_verification": "https://ssrv.adjust.com",
            ])
        let hosts = AdjustSystem().requests.hosts.map { "https://\($0.name)" }
        #expect(hosts.count == 48 && Set(hosts).count == 48)
        #expect(hosts.contains(uploads.endpoint) && uploads.endpointsOfTypes.values.allSatisfy(hosts.contains))
    }

    @Test("A request to forget the device is sent first")
    func precedence() {
        #expect(uploads.precedence == Precedence(first: [], deletionRequests: ["gdpr"]))
    }

    // MARK: Targets

    @Test("Each documented path is a target of its type only", arguments: AdjustClientTests.types)
    func paths(path: String, type: String) {
        #expect(uploads.accepts(Target(path: path)) && uploads.accepts(Target(path: path, method: "POST")))
        for method in ["GET", "PUT", "post", ""] {
            #expect(!uploads.accepts(Target(path: path, method: method)), "\(method)")
        }
        for other in [
            "\(path)?x=1", "\(path)?", "\(path)#x", "\(path)/", "/\(path)", "//evil.example\(path)", " \(path)",
            "https://evil.example\(path)", "\(path)\r\nHost: x", "/..\(path)", path.uppercased(),
            String(path.dropFirst()),
        ] {
            #expect(!uploads.accepts(Target(path: other)), "\(other)")
        }
        func names(_ type: String) -> Bool {
            let payload = Array("{}".utf8)
            return uploads.targetNamesRecord(
                Record(
                    system: .adjust, type: type, id: PayloadHash.id(of: payload), target: Target(path: path),
                    payload: payload, source: Source(capture: "c", path: "p", store: .adjustQueue, index: 0)))
        }
        #expect(names(type))
        for other in Set(AdjustClientTests.types.map(\.1)).subtracting([type]) { #expect(!names(other), "\(other)") }
    }

    @Test("Other paths are no targets", arguments: ["", "/", "/attribution", "/%65vent", "/v1/purchase", "/session2"])
    func otherPaths(path: String) {
        #expect(!uploads.accepts(Target(path: path)))
    }

    @Test(
        "A target can have the names of the SDK and of the app",
        arguments: [
            ([:], true), (["Client-Sdk": "ios4.11.5"], true), (["User-Agent": "a b"], true),
            (["Client-Sdk": "unity4.11.4@ios4.11.5", "User-Agent": "a 1 iPhone x ios 7 de AT"], true),
            (["client-sdk": "ios4.11.5"], false), (["Client-SDK": "ios4.11.5"], false), (["Client-Sdk": ""], false),
            (["Client-Sdk": "ios4\r\nHost: x"], false), (["User-Agent": "a\nb"], false), (["User-Agent": ""], false),
            (["Authorization": "Signature x"], false), (["Client-Sdk": "ios4.11.5", "Host": "x"], false),
        ] as [([CapturedText: String], Bool)])
    func headers(headers: [CapturedText: String], isAllowed: Bool) {
        #expect(uploads.accepts(Target(path: "/event", headers: headers)) == isAllowed)
    }

    // MARK: Answers

    private static let foreign = "the answer is not from Adjust"
    private static let rejected = "the server rejects the request"

    @Test(
        "The status and the message of the body determine the outcome",
        arguments: [
            (200, #"{"message":"OK"}"#, Outcome.delivered(status: 200)), (200, "{}", .delivered(status: 200)),
            (200, #"{"adid":"a","timestamp":"t"}"#, .delivered(status: 200)),
            (
                200, #"{"message":"Event request failed\n"}"#,
                .delivered(status: 200, note: "Event request failed")
            ),
            (200, #"{"message":7}"#, .delivered(status: 200)),
            (201, #"{"message":"created"}"#, .refused(status: 201, reason: "created")),
            (400, #"{"error":"Bad"}"#, .refused(status: 400, reason: "Bad")),
            (400, #"{"error":"Bad","message":"M"}"#, .refused(status: 400, reason: "Bad")),
            (404, #"{"message":"M"}"#, .refused(status: 404, reason: "M")),
            (451, "{}", .refused(status: 451, reason: rejected)),
            (400, "", .refused(status: 400, reason: "the server cannot read the request")),
            (404, "<html>", .refused(status: 404, reason: "the server does not know the path: <html>")),
            (418, "no JSON", .refused(status: 418, reason: "\(rejected): no JSON")),
            (200, "", .retryLater(status: 200, reason: foreign)),
            (200, "<html>Welcome</html>", .retryLater(status: 200, reason: "\(foreign): <html>Welcome</html>")),
            (200, "[]", .retryLater(status: 200, reason: foreign)),
            (400, #"{"adid":"a",}"#, .refused(status: 400, reason: "the server cannot read the request")),
            (200, "OK", .retryLater(status: 200, reason: "\(foreign): OK")),
            (204, "", .retryLater(status: 204, reason: foreign)),
        ] as [(Int, String, Outcome)])
    func outcomes(status: Int, body: String, outcome: Outcome) {
        #expect(uploads.outcome(of: Answer(status: status, body: Array(body.utf8))) == outcome)
    }

    @Test("An incomplete answer has an unknown outcome", arguments: [200, 204, 400])
    func incomplete(status: Int) {
        let answer = Answer(status: status, body: Array(#"{"message":"OK"}"#.utf8), isWhole: false)
        guard case .unknown = uploads.outcome(of: answer) else {
            Issue.record("The outcome is \(uploads.outcome(of: answer)).")
            return
        }
    }

    @Test("Only status 200 of a captured request means that it was delivered")
    func captured() {
        for status in [0, 200, 201, 204, 400, 500] {
            #expect(AdjustSystem().requests.isDelivered(status: status) == (status == 200), "\(status)")
        }
    }

    @Test(
        "Delays are in milliseconds, and the delay before the upload is sent again is rounded up",
        arguments: [
            (#"{"retry_in":0}"#, AnswerInstructions(retryDelay: 0)),
            (#"{"retry_in":1}"#, AnswerInstructions(retryDelay: 1)),
            (#"{"retry_in":999}"#, AnswerInstructions(retryDelay: 1)),
            (#"{"retry_in":1000}"#, AnswerInstructions(retryDelay: 1)),
            (#"{"retry_in":1001}"#, AnswerInstructions(retryDelay: 2)),
            (#"{"retry_in":86400000}"#, AnswerInstructions(retryDelay: 86_400)),
            (#"{"retry_in":-5}"#, AnswerInstructions(retryDelay: 0)),
            (#"{"retry_in":9223372036854775807}"#, AnswerInstructions(retryDelay: 9_223_372_036_854_776)),
            (#"{"retry_in":"5"}"#, AnswerInstructions()), (#"{"retry_in":null}"#, AnswerInstructions()),
            (#"{"continue_in":2500}"#, AnswerInstructions(nextDelay: 2.5)),
            (#"{"continue_in":0}"#, AnswerInstructions(nextDelay: 0)),
            (#"{"continue_in":-1}"#, AnswerInstructions(nextDelay: 0)),
            (#"{"tracking_state":"opted_out"}"#, AnswerInstructions(endsClient: true)),
            (#"{"tracking_state":"opted_in"}"#, AnswerInstructions()), (#"{"tracking_state":1}"#, AnswerInstructions()),
            (
                #"{"continue_in":1,"retry_in":1,"tracking_state":"opted_out"}"#,
                AnswerInstructions(retryDelay: 1, nextDelay: 0.001, endsClient: true)
            ),
            ("{}", AnswerInstructions()), ("", AnswerInstructions()), ("<html>", AnswerInstructions()),
            (#"[{"retry_in":1}]"#, AnswerInstructions()),
        ])
    func instructions(body: String, expected: AnswerInstructions) {
        for status in [200, 400, 429, 503] {
            let answer = Answer(status: status, body: Array(body.utf8))
            #expect(uploads.instructions(in: answer) == expected, "\(status)")
        }
    }
}
