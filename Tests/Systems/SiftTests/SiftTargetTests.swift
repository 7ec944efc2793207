import Telemetry
import TestSupport
import Testing

@testable import Sift

@Suite struct SiftTargetTests {
    @Test(
        "An account id becomes one path segment",
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
        "An account id that cannot be a path segment has no target",
        arguments: ["", ".", "..", "a/../b", "a//b", "/", "a\\..", "\r\nHost: x", "\0"])
    func invalidAccounts(account: String) {
        #expect(SiftTarget.path(account: account) == nil)
        #expect(!Target(path: "/v3/accounts/\(account)/mobile_events").isKnown(to: .sift))
    }

    @Test(
        "A path in another form is not a target",
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

    @Test("A method other than PUT is not a target", arguments: ["POST", "put", "GET", ""])
    func otherMethods(method: String) {
        #expect(!Target(path: "/v3/accounts/a/mobile_events", method: method).isKnown(to: .sift))
    }

    @Test(
        "The account is read from a path",
        arguments: [
            ("acme", "acme"), ("5f0c2a", "5f0c2a"), ("a%20b", "a b"), ("%C3%A4", "ä"), ("a.b", "a.b"),
            ("a-b_c~d", "a-b_c~d"), ("a%3Ab", "a:b"), ("a%2Fb", "a/b"),
        ])
    func accounts(part: String, account: String) {
        let path = "/v3/accounts/\(part)/mobile_events"
        #expect(SiftTarget.account(ofPath: path) == account)
        #expect(Target(path: path, method: "PUT").isKnown(to: .sift))
        #expect(!Target(path: path, method: "POST").isKnown(to: .sift))
    }

    @Test(
        "Other paths contain no account",
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
    func pathsWithoutAccount(path: String) {
        #expect(SiftTarget.account(ofPath: path) == nil)
        #expect(!Target(path: path).isKnown(to: .sift))
    }
}
