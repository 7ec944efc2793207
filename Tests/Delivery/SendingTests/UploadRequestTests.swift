import ActivityStream
import Adjust
import Bytes
import Foundation
import Leanplum
import Mozilla
import Sift
import Telemetry
import TestSupport
import Testing

@testable import Delivery

/// Tests that requests match the format documents byte by byte.
@Suite struct UploadRequestTests {
    private let now = Timestamp(milliseconds: 1_580_086_400_012)

    private func request(
        _ system: SystemName, _ path: String, _ payload: String, _ credential: Credential = .none,
        method: String? = nil
    ) throws -> UploadRequest {
        try UploadRequest(
            uploads(system), target: Target(path: path, method: method), payload: Array(payload.utf8),
            credential: credential, secrets: .none, now: try #require(now), agent: "Pingferry/1")
    }

    private func fields(_ request: UploadRequest) -> [String] { request.http.fields.map { "\($0.name): \($0.value)" } }

    @Test func pingIsPostedToItsStoredPath() throws {
        let path = "/submit/telemetry/0C5A3B52-6E0B-4C8D-9F53-1D0A7E6C2B11/core/Focus/5.0/release/2?v=4"
        let request = try request(.mozilla, path, #"{"v":7}"#)
        #expect(request.http.method == "POST")
        #expect(request.http.target == path)
        #expect(fields(request) == ["User-Agent: Pingferry/1", "Content-Type: application/json; charset=utf-8"])
        #expect(request.http.body == Array(#"{"v":7}"#.utf8))
    }

    @Test func headerFieldsOfATargetAreSentIfItsSystemHasThem() throws {
        let target = Target(path: "/submit/hello/1", headers: ["X-Tag": "test"])
        let uploads = try #require(ProbeSystem.table[.probe]).uploads
        func request(_ target: Target) throws -> UploadRequest {
            try UploadRequest(
                uploads, target: target, payload: [], credential: .none, secrets: .none,
                now: try #require(now), agent: "Pingferry/1")
        }
        #expect(
            fields(try request(target)) == [
                "User-Agent: Pingferry/1", "Content-Type: application/json", "X-Tag: test",
            ])
        for other: [CapturedText: String] in [["X-Tag": "a b"], ["X-Tag": "a", "Host": "a"]] {
            #expect(throws: RequestError.noTarget) {
                try request(Target(path: "/submit/hello/1", headers: other))
            }
        }
    }

    @Test func specialCharactersInAPathAreEncoded() throws {
        let id = "0C5A3B52-6E0B-4C8D-9F53-1D0A7E6C2B11"
        let request = try request(.mozilla, "/submit/telemetry/\(id)/core/Föcus App/5.0/re\"l%20x/2?v=4", "{}")
        #expect(request.http.target == "/submit/telemetry/\(id)/core/F%C3%B6cus%20App/5.0/re%22l%20x/2?v=4")
    }

    @Test func siftListIsPutCompressedWithTheBeaconKey() throws {
        let payload = #"{"data":[{"time":1}]}"#
        let request = try request(
            .sift, "/v3/accounts/4e1a50/mobile_events", payload, .sift(beaconKey: "key-123"))
        #expect(request.http.method == "PUT")
        // The expected value is the output of: printf key-123 | base64
        #expect(
            fields(request) == [
                "User-Agent: Pingferry/1", "Authorization: Basic a2V5LTEyMw==", "Content-Type: application/json",
                "Content-Encoding: gzip",
            ])
        #expect(try tool(["gzip", "-dc"], input: Array(request.http.body)) == Data(payload.utf8))
    }

    @Test(arguments: [0, 1, 100, 70_000, 3_000_000])
    func compressedBodyIsGzipOfThePayload(size: Int) throws {
        var generator = SystemRandomNumberGenerator()
        let bytes = (0..<size).map { _ in UInt8.random(in: 0...15, using: &generator) }
        let compressed = try Gzip.compressed(bytes)
        #expect(try tool(["gzip", "-dc"], input: Array(compressed)) == Data(bytes))
        #expect(try Gzip.compressed(bytes) == compressed)
    }

    @Test func leanplumPayloadIsAFormField() throws {
        let payload = #"{"data":[{"action":"start","sdkVersion":"1.0"},{"a":"é &=+~","sdkVersion":"2.7.2"}]}"#
        let request = try request(.leanplum, "/api", payload, .leanplum(appID: "app_X", key: "prod key"))
        #expect(request.http.method == "POST")
        #expect(
            fields(request) == ["User-Agent: Pingferry/1", "Content-Type: application/x-www-form-urlencoded"])
        #expect(
            String(decoding: request.http.body, as: UTF8.self)
                == "action=multi&appId=app_X&client=ios&clientKey=prod%20key&data=%7B%22data%22%3A%5B%7B%22action%22%3A%22"
                + "start%22%2C%22sdkVersion%22%3A%221.0%22%7D%2C%7B%22a%22%3A%22%C3%A9%20%26%3D%2B~%22%2C%22sdkVersion%22"
                + "%3A%222.7.2%22%7D%5D%7D&sdkVersion=2.7.2&time=1580086400.012000")
    }

    @Test func missingVersionIsOmitted() throws {
        let request = try request(.leanplum, "/api", #"{"data":[{}]}"#, .leanplum(appID: "a", key: "k"))
        #expect(
            String(decoding: request.http.body, as: UTF8.self)
                == "action=multi&appId=a&client=ios&clientKey=k&data=%7B%22data%22%3A%5B%7B%7D%5D%7D&time=1580086400.012000"
        )
    }

    @Test(arguments: ["{}", #"{"data":[]}"#, #"{"data":{}}"#, "[]"])
    func payloadWithoutAListIsRejected(payload: String) {
        #expect(throws: RequestError.payload) {
            try request(.leanplum, "/api", payload, .leanplum(appID: "a", key: "k"))
        }
    }

    @Test func activityStreamPingIsPosted() throws {
        let request = try request(.activityStream, "/v3/links/ping-centre", #"{"topic":"t"}"#)
        #expect(request.http.method == "POST")
        #expect(fields(request) == ["User-Agent: Pingferry/1", "Content-Type: application/json"])
        #expect(request.http.body == Array(#"{"topic":"t"}"#.utf8))
    }

    @Test func adjustFormIsPostedWithTheNamesOfTheSDKAndTheApp() throws {
        let target = Target(path: "/startup", headers: ["Client-Sdk": "ios3.4.0", "User-Agent": "a 1 b c d e f g"])
        let request = try UploadRequest(
            uploads(.adjust), target: target, payload: Array(#"{"app_token":"a b"}"#.utf8), credential: .none,
            secrets: .none, now: try #require(now), agent: "Pingferry/1")
        #expect(request.http.method == "POST" && request.http.target == "/startup")
        #expect(
            String(decoding: request.http.body, as: UTF8.self)
                == "app_token=a%20b&sent_at=2020-01-27T00%3A53%3A20.012Z%2B0000")
        // The stored name of the app replaces that of the program.
        #expect(
            Set(fields(request)) == [
                "Content-Type: application/x-www-form-urlencoded", "Client-Sdk: ios3.4.0",
                "User-Agent: a 1 b c d e f g",
            ])
        #expect(request.http.fields.count == 3)
    }

    @Test(arguments: [
        (SystemName.mozilla, "//host/submit/telemetry/A/core/Focus/1/r/1"),
        (.mozilla, "http://host/submit/telemetry/A/core/Focus/1/r/1"),
        (.mozilla, "/submit/telemetry/A/core/Focus/1/r/1 HTTP/1.1\r\nX: y"),
        (.mozilla, "/submit/telemetry/A/core/Focus/1/r/../../1"),
        (.mozilla, "/v3/links/ping-centre"),
        (.activityStream, "/submit/telemetry/A/core/Focus/1/r/1"),
        (.leanplum, "/api?x"), (.leanplum, "//host/api"), (.adjust, "/event?x=1"), (.adjust, "//host/event"),
        (.adjust, "/event\r\nHost: x"),
        (.sift, "/v3/accounts/a/b/mobile_events"), (.sift, "/v3/accounts//mobile_events"),
        (.sift, "/v3/accounts/../mobile_events"), (.sift, "/v3/accounts/a%2F..%2Fb/mobile_events"),
        (.sift, "/v3/accounts/a\r\nHost: x/mobile_events"),
    ])
    func targetOutsideTheGrammarIsRejected(system: SystemName, path: String) {
        let credential: Credential =
            switch system {
            case .sift: .sift(beaconKey: "k")
            case .leanplum: .leanplum(appID: "a", key: "k")
            default: .none
            }
        #expect(throws: RequestError.noTarget) { try request(system, path, #"{"data":[{}]}"#, credential) }
    }

    @Test func credentialOfAnotherSystemIsRejected() {
        #expect(throws: RequestError.otherCredential) {
            try request(.sift, "/v3/accounts/a/mobile_events", "{}", .leanplum(appID: "a", key: "k"))
        }
        #expect(throws: RequestError.otherCredential) {
            try request(.leanplum, "/api", #"{"data":[{}]}"#, .sift(beaconKey: "k"))
        }
        #expect(throws: RequestError.otherCredential) { try request(.sift, "/v3/accounts/a/mobile_events", "{}") }
    }
}
