import Testing

@testable import Telemetry

@Suite struct SiftTargetTests {
    @Test(
        "an account id becomes one segment of the path",
        arguments: [
            ("5f0c1d2e3a", "5f0c1d2e3a"), ("a.b-c_d~e", "a.b-c_d~e"), ("a/b", "a%2Fb"), ("a b?c#d", "a%20b%3Fc%23d"),
            ("ü", "%C3%BC"), ("a%2e", "a%252e"), ("...", "..."),
        ])
    func escaped(account: String, segment: String) throws {
        let path = try #require(SiftTarget.path(account: account))
        #expect(path == "/v3/accounts/\(segment)/mobile_events")
        for method in [nil, "PUT"] { #expect(Target(path: path, method: method).isKnown(to: .sift)) }
    }

    @Test(
        "an id that cannot be a segment is no target",
        arguments: ["", ".", "..", "a/../b", "a//b", "/", "a\\..", "\r\nHost: x", "\0"])
    func impossible(account: String) {
        #expect(SiftTarget.path(account: account) == nil)
        #expect(!Target(path: "/v3/accounts/\(account)/mobile_events").isKnown(to: .sift))
    }

    @Test(
        "a path in another form is no target",
        arguments: [
            "/v3/accounts/a/b/mobile_events", "/v3/accounts/a/mobile_events?x=1", "/v3/accounts/a/mobile_events/",
            "//host/v3/accounts/a/mobile_events", "http://host/v3/accounts/a/mobile_events",
            "/v3/accounts/mobile_events",
            "/v3/accounts//mobile_events", "/v3/accounts/%2e%2e/mobile_events", "/v3/accounts/%2E%2E/mobile_events",
            "/v3/accounts/a b/mobile_events", "/v3/accounts/ü/mobile_events", "/v3/accounts/%c3%bc/mobile_events",
            "/v3/accounts/%41/mobile_events", "/v3/accounts/%/mobile_events", "/v3/accounts/%4/mobile_events",
            "/v3/accounts/%FF/mobile_events", "/v3/accounts/a\r\nb/mobile_events", "/v3/accounts/a/events",
            "/v3/accounts/\u{212A}/mobile_events", "",
        ])
    func otherPaths(path: String) {
        #expect(!Target(path: path).isKnown(to: .sift))
    }

    @Test("a target is sent by PUT", arguments: ["POST", "put", "GET", ""])
    func otherMethods(method: String) {
        #expect(!Target(path: "/v3/accounts/a/mobile_events", method: method).isKnown(to: .sift))
    }

    @Test("the path is Sift's alone", arguments: [TelemetrySystem.mozilla, .leanplum, .activityStream])
    func otherSystems(system: TelemetrySystem) {
        #expect(!Target(path: "/v3/accounts/a/mobile_events").isKnown(to: system))
    }
}
