import ActivityStream
import Adjust
import Glean
import JSONText
import Leanplum
import Mozilla
import Sift
import Systems
import Telemetry
import TestSupport
import Testing

/// Tests that the systems of the registry are consistent with each other.
@Suite struct SystemTableTests {
    /// A captured request of a system.
    struct Captured: Sendable, CustomTestStringConvertible {
        let system: SystemName
        let path: String
        let body: String

        var testDescription: String { system.description }
    }

    private static let id = "0C5A3B52-6E0B-4C8D-9F53-1D0A7E6C2B11"

    static let captured = [
        Captured(
            system: .mozilla,
            path: "/submit/telemetry/\(id)/core/Focus/5.0/release/2?v=4",
            body: #"{"clientId":"4F8E2D6A-1B7C-4E39-8A50-C2D7F1B6E083","v":7,"seq":1.0,"x":"\u00e9\/"}"#),
        Captured(
            system: .glean, path: "/submit/org-mozilla-ios-focus/onboarding-opt-out/1/\(id)",
            body: #"""
                {"client_info":{"app_build":"1","app_display_version":"2","architecture":"D63AP","first_run_date":"d",\#
                "os":"iOS","os_version":"18","telemetry_sdk_build":"66.3.0"},"metrics":{"string":{"a.c":"\u00e9\/"}},\#
                "ping_info":{"end_time":"2026-01-20T04:58-05:00","seq":1,"start_time":"2026-01-20T04:31-05:00"}}
                """#),
        Captured(
            system: .sift, path: "/v3/accounts/4e1a50/mobile_events",
            body: #"{"data":[{"time":1583154000000,"installation_id":"I","path":"a\/b"}]}"#),
        Captured(
            system: .leanplum, path: "/api",
            body: #"{"data":[{"action":"start","deviceId":"D","versionName":"18099","clientKey":"secret"}]}"#),
        Captured(
            system: .activityStream, path: "/v3/links/ping-centre",
            body:
                #"{"topic":"activity-stream-mobile-events","event":"CLICK","app_version":"8.0","action_position":3.0}"#),
        Captured(
            system: .adjust, path: "/event",
            body: #"""
                {"app_token":"4w565xzmb54d","bundle_id":"com.example.kiosk","callback_params":"{\"a\":\"b\\/c\"}",\#
                "created_at":"2020-03-02T14:00:00.417Z+0100","event_token":"g3mfiw","os_name":"iOS\/",\#
                "persistent_ios_uuid":"5f0d1c7a-2b94-4e0c-9d3e-8a61b7c2f415","signature":"secret"}
                """#),
    ]

    private let source = Source(capture: "night 1", path: "a/b.har", store: .harEntry, index: 3)

    private func record(_ captured: Captured, at source: Source) throws -> Record {
        let system = try #require(Systems.table[captured.system])
        let route = try UploadRoute(method: system.uploads.method, url: system.uploads.endpoint + captured.path)
        var document = try JSONDocument(Array(captured.body.utf8))
        let time = Timestamp(milliseconds: 1_583_154_000_417)
        return try CapturedUpload(route: route, time: time, source: source).record(by: system.requests, in: &document)
    }

    private func read(_ line: String) throws -> Record {
        var document = JSONDocument()
        return try Record(line: Array(line.utf8), using: &document)
    }

    // MARK: Names

    @Test("The registry contains all systems in the order of reports.")
    func order() {
        #expect(Self.captured.map(\.system) == Systems.table.names)
    }

    @Test("Each system has a unique name and is found by it.")
    func names() {
        let names = Systems.table.names
        #expect(Set(names).count == names.count)
        for name in names {
            #expect(Systems.table.name(name.description) == name)
            #expect(Systems.table[name]?.name == name)
        }
        #expect(Systems.table.name("Mozilla") == nil && Systems.table.name("") == nil)
    }

    @Test("The kinds of stores and request logs are unique.")
    func storeKinds() {
        let kinds = Systems.table.all.flatMap(\.stores).flatMap(\.kinds) + StoreKind.requestLogs
        #expect(Set(kinds).count == kinds.count)
        for kind in kinds { #expect(Systems.table.storeKind(kind.description) == kind) }
        #expect(Systems.table.storeKind("har") == nil)
    }

    @Test("Names are lowercase words joined by hyphens, and a kind begins with the name of its system.")
    func spelling() {
        for system in Systems.table.all {
            for text in [system.name.description] + system.stores.flatMap(\.kinds).map(\.description) {
                #expect(text.wholeMatch(of: /[a-z]+(-[a-z]+)*/) != nil, "\(text)")
                #expect(text.hasPrefix(system.name.description))
            }
        }
    }

    // MARK: Servers

    @Test("A captured request to the endpoint of a system belongs to the system.", arguments: captured)
    func endpoint(captured: Captured) throws {
        let system = try #require(Systems.table[captured.system])
        let address = try #require(WebAddress(system.uploads.endpoint + captured.path))
        #expect(system.uploads.endpoint == "https://\(address.host)")
        let host = try #require(system.requests.hosts.first { $0.name == address.host })
        #expect(host.note == nil)
        #expect(system.requests.methods.contains(system.uploads.method))
        let route = try UploadRoute(method: system.uploads.method, url: system.uploads.endpoint + captured.path)
        #expect(route.system == captured.system)
        #expect(route.target == Target(path: captured.path))
        #expect(route.notes.isEmpty)
    }

    @Test("Hosts are in normalized form, and each path on a host belongs to one system.")
    func hosts() {
        for system in Systems.table.all {
            for host in system.requests.hosts {
                #expect(WebAddress("https://\(host.name)/")?.host == host.name)
                let systems = Self.captured.filter { captured in
                    (try? UploadRoute(method: nil, url: "https://\(host.name)\(captured.path)"))?.system == system.name
                }
                #expect(systems.map(\.system) == [system.name], "\(host.name)")
            }
        }
    }

    @Test(
        "A status that proves delivery in a log also means that an upload is delivered.", arguments: Systems.table.names
    )
    func delivered(name: SystemName) throws {
        let system = try #require(Systems.table[name])
        #expect(system.requests.isDelivered(status: 200))
        // The servers of some systems answer with an object, so that other answers do not prove delivery.
        let body = Array("{}".utf8)
        for status in 200..<500 where system.requests.isDelivered(status: status) {
            guard case .delivered(status, _) = system.uploads.outcome(of: Answer(status: status, body: body)) else {
                Issue.record("\(status)")
                continue
            }
        }
    }

    // MARK: Records

    @Test("A captured request becomes a record that is read back from its line.", arguments: captured)
    func roundTrip(captured: Captured) throws {
        let record = try record(captured, at: source)
        #expect(record.system == captured.system)
        #expect(record.target == Target(path: captured.path))
        #expect(record.contradiction == nil)
        #expect(record.targetNamesRecord)
        #expect(try read(record.line) == record)
        #expect(!record.line.contains("secret"))
    }

    @Test("The payload of a record is canonical. Converting it again changes nothing.", arguments: captured)
    func canonical(captured: Captured) throws {
        let first = try record(captured, at: source)
        let again = try record(Captured(system: captured.system, path: captured.path, body: first.text), at: source)
        #expect(again.payload == first.payload)
        #expect(again.id == first.id)
    }

    @Test("A record of each kind of store is read back.", arguments: captured)
    func storeRecords(captured: Captured) throws {
        let system = try #require(Systems.table[captured.system])
        for kind in system.stores.flatMap(\.kinds) + StoreKind.requestLogs {
            var source = source
            source.store = kind
            let record = try record(captured, at: source)
            #expect(try read(record.line) == record)
        }
    }

    @Test(
        "A payload on a line belongs to the last system that recognizes its shape, if its system has one.",
        arguments: captured)
    func lineShapes(captured: Captured) throws {
        let document = try JSONDocument(Array(captured.body.utf8))
        let candidates = Systems.table.all.filter { $0.requests.lineShape(of: document) != nil }
        // The payloads of Adjust are forms, which have no shape.
        #expect(candidates.last?.name == (captured.system == SystemName("adjust") ? nil : captured.system))
    }

    @Test("Only systems with accounts need credentials, and a request without them is rejected.", arguments: captured)
    func credentials(captured: Captured) throws {
        let uploads = try #require(Systems.table[captured.system]).uploads
        let record = try record(captured, at: source)
        var document = JSONDocument()
        #expect((uploads.account(of: record, using: &document) != nil) == (uploads.credentials != nil))
        let now = Timestamp(clamping: 0)
        guard uploads.credentials != nil else {
            let content = try uploads.content(of: record.payload, credential: .none, now: now)
            if captured.system != SystemName("adjust") { #expect(content.body == record.payload) }
            #expect(!content.body.isEmpty)
            return
        }
        #expect(throws: RequestError.otherCredential) {
            try uploads.content(of: record.payload, credential: .none, now: now)
        }
    }
}
