import Bytes
import JSONText
import Telemetry
import Testing

@testable import Glean

@Suite struct GleanUploadsTests {
    private let uploads: any UploadFormat = GleanUploads()
    private static let id = "0b9c7a5e-6d21-4f7b-8f0c-3e1d2a4b5c60"
    private static let path = "/submit/org-mozilla-ios-firefox/baseline/1/\(id)"

    @Test(
        "Only the path, method and tags of a ping are accepted as a target",
        arguments: [
            (Target(path: path), true), (Target(path: path, headers: ["X-Debug-ID": "a-1"]), true),
            (Target(path: path, headers: ["X-Source-Tags": "automation,perf"]), true),
            (Target(path: path, method: "POST"), true), (Target(path: path, method: "PUT"), false),
            (Target(path: path + "?v=4"), false), (Target(path: path, headers: ["x-debug-id": "a"]), false),
            (Target(path: path, headers: ["X-Debug-ID": "no good"]), false),
            (Target(path: path, headers: ["Authorization": "a"]), false),
            (Target(path: path, headers: ["Host": "a"]), false),
        ])
    func targets(target: Target, isAccepted: Bool) {
        #expect(uploads.accepts(target) == isAccepted)
    }

    @Test("A target with another document id or ping name does not belong to the record")
    func ownTargets() {
        func record(_ type: String, _ id: String, _ path: String?) -> Record {
            Record(
                system: .glean, type: type, id: id, target: path.map { Target(path: $0) }, payload: [],
                source: Source(capture: "c", path: "p", store: .gleanPingFile, index: 0))
        }
        #expect(uploads.targetNamesRecord(record("baseline", Self.id, Self.path)))
        #expect(uploads.targetNamesRecord(record("baseline", Self.id, nil)))
        #expect(!uploads.targetNamesRecord(record("metrics", Self.id, Self.path)))
        #expect(!uploads.targetNamesRecord(record("baseline", Self.id.uppercased(), Self.path)))
        #expect(!uploads.targetNamesRecord(record("baseline", Self.id, "/submit/telemetry/x")))
    }

    @Test("Deletion requests are sent first, and a capability hold cannot be released")
    func precedenceAndHolds() {
        #expect(uploads.precedence.first == ["deletion-request", "usage-deletion-request"])
        #expect(uploads.precedence.deletionRequests == ["deletion-request"])
        #expect(uploads.holds.filter(\.isFinal).map(\.code) == ["capability"])
        #expect(uploads.endpoint == "https://incoming.telemetry.mozilla.org")
    }

    @Test("The body is sent unchanged and compressed, without a date header")
    func requestContent() throws {
        let payload = Array(#"{"metrics":{}}"#.utf8)
        let now = try #require(Timestamp(milliseconds: 1))
        let content = try uploads.content(of: payload, credential: .none, now: now)
        #expect(content.body == payload && content.isCompressed)
        #expect(content.headers == [HeaderField("Content-Type", "application/json; charset=utf-8")])
    }
}

@Suite struct GleanRequestsTests {
    private static let id = "0b9c7a5e-6d21-4f7b-8f0c-3e1d2a4b5c60"
    private static let path = "/submit/org-mozilla-ios-firefox/baseline/1/\(id)"

    private func record(
        _ body: String, headers: [HeaderField] = [], url: String? = "https://incoming.telemetry.mozilla.org\(path)"
    ) throws -> Record {
        let table = SystemTable([GleanSystem()])
        let upload = CapturedUpload(
            route: try url.map { try UploadRoute(method: "POST", url: $0, table) }, headers: headers,
            time: Timestamp(rfc3339: "2026-02-01T00:00:00Z"),
            source: Source(capture: "c", path: "p", store: .harEntry, index: 0))
        var document = try JSONDocument(Array(body.utf8))
        return try upload.record(by: GleanRequests(), in: &document)
    }

    @Test("A captured ping has the tags of its request, and the time in its body if there is one")
    func capturedPing() throws {
        let body = #"{"client_info":{"client_id":"\#(Self.id)"},"ping_info":{"end_time":"2026-01-01T00:00Z"}}"#
        let found = try record(
            body, headers: [HeaderField("x-debug-id", "tag"), HeaderField("X-Source-Tags", "no good")])
        #expect(found.type == "baseline" && found.id == Self.id && found.client == Self.id)
        #expect(found.target == Target(path: Self.path, headers: ["X-Debug-ID": "tag"]))
        #expect(found.time?.description == "2026-01-01T00:00:00.000Z")
        #expect(found.app?.id == "org-mozilla-ios-firefox")
        #expect(found.held.map(\.code) == ["headers", "schema"])
        #expect(try record("{}").time?.description == "2026-02-01T00:00:00.000Z")
    }

    @Test("A captured body without client_info and ping_info is valid")
    func withoutSections() throws {
        #expect(try record(#"{"metrics":{}}"#).held.isEmpty)
        #expect(try record(#"{"ping_info":{}}"#).held.map(\.code) == ["schema"])
    }

    @Test("A body that requires a capability is held")
    func requiredCapability() throws {
        let body = #"{"metrics":{"string_list":{"glean.ping.uploader_capabilities":["ohttp"]}}}"#
        #expect(try record(body).held.map(\.text) == ["capability: ohttp"])
    }

    @Test("A body without a request has neither a type nor a target")
    func bodyWithoutRequest() throws {
        let found = try record(#"{"metrics":{}}"#, url: nil)
        #expect(found.type == "unknown" && found.target == nil && found.id.hasPrefix("sha256:"))
        #expect(found.held.map(\.code) == ["no-target"])
    }
}
