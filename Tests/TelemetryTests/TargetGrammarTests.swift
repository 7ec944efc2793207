import Telemetry
import Testing

/// Which paths records may name, beside Mozilla's.
@Suite struct TargetGrammarTests {
    @Test(
        "Sift's path names an account",
        arguments: [
            ("acme", "acme"), ("5f0c2a", "5f0c2a"), ("a%20b", "a b"), ("%C3%A4", "ä"), ("a.b", "a.b"),
            ("a-b_c~d", "a-b_c~d"), ("a%3Ab", "a:b"), ("a%2Fb", "a/b"),
        ])
    func siftAccounts(part: String, account: String) {
        let path = "/v3/accounts/\(part)/mobile_events"
        #expect(Target(path: path).siftAccount == account)
        #expect(Target(path: path, method: "PUT").isKnown(to: .sift))
        #expect(!Target(path: path, method: "POST").isKnown(to: .sift))
        for system in [TelemetrySystem.mozilla, .leanplum, .activityStream] {
            #expect(!Target(path: path).isKnown(to: system))
        }
    }

    @Test(
        "other places are none of Sift's",
        arguments: [
            "", "/", "//host/v3/accounts/a/mobile_events", "/v3/accounts//mobile_events", "/v3/accounts/mobile_events",
            "/v3/accounts/a/b/mobile_events", "/v3/accounts/../mobile_events", "/v3/accounts/./mobile_events",
            "/v3/accounts/%2e%2e/mobile_events", "/v3/accounts/a%2F..%2Fb/mobile_events",
            "/v3/accounts/a/../b/mobile_events",
            "/v3/accounts/a/mobile_events?x=1", "/v3/accounts/a?/mobile_events", "/v3/accounts/a#/mobile_events",
            "/v3/accounts/a\r\nHost: x/mobile_events", "/v3/accounts/a%0d%0aHost/mobile_events",
            "/v3/accounts/a b/mobile_events", "/v3/accounts/ä/mobile_events", "/v3/accounts/%ff/mobile_events",
            "/v3/accounts/%/mobile_events", "/v3/accounts/%4/mobile_events", "/v3/accounts/a/mobile_events/",
            "/v2/accounts/a/mobile_events", "/v3/accounts/a/events", "https://host/v3/accounts/a/mobile_events",
            "/v3/accounts/a\\b/mobile_events", "/v3/accounts/a%00/mobile_events", "/v3/accounts/\"/mobile_events",
        ])
    func otherPlaces(path: String) {
        #expect(Target(path: path).siftAccount == nil)
        #expect(!Target(path: path).isKnown(to: .sift))
    }

    @Test("Leanplum and Activity Stream have one path each")
    func onePath() {
        for (system, path) in [(TelemetrySystem.leanplum, "/api"), (.activityStream, "/v3/links/ping-centre")] {
            #expect(Target(path: path).isKnown(to: system))
            #expect(Target(path: path, method: "POST").isKnown(to: system))
            #expect(!Target(path: path, method: "PUT").isKnown(to: system))
            for other in [
                "/\(path)", "\(path)/", "\(path)?x=1", "\(path)#x", "//host\(path)", "\(path)\r\nX: y", " \(path)", "",
            ] {
                #expect(!Target(path: other).isKnown(to: system), "\(other)")
            }
        }
    }

    @Test("a ping's path is its own when it names its document and type")
    func ownTarget() {
        func record(_ id: String, _ type: String, path: String?) -> Record {
            Record(
                system: .mozilla, type: type, id: id, target: path.map { Target(path: $0) }, payload: Array("{}".utf8),
                source: Source(capture: "c", path: "p", store: .mozillaPingFile, index: 0))
        }
        let path = "/submit/telemetry/A/core/Focus/1/release/1?v=4"
        #expect(record("A", "core", path: path).isTargetItsOwn)
        #expect(!record("B", "core", path: path).isTargetItsOwn)
        #expect(!record("a", "core", path: path).isTargetItsOwn)
        #expect(!record("A", "other", path: path).isTargetItsOwn)
        #expect(!record("A", "core", path: "/x").isTargetItsOwn)
        #expect(record("A", "core", path: nil).isTargetItsOwn)
    }
}
