import Adjust
import Glean
import Leanplum
import Mozilla
import Sift
import Telemetry
import TestSupport
import Testing

@testable import ActivityStream

@Suite struct UploadRouteTests {
    private static let submission = "submit/telemetry/6E0C1A52-0000-4000-8000-000000000001/core/Focus/4.0/release/1234"

    private static let gleanPath = "/submit/org-mozilla-ios-firefox/baseline/1/6e0c1a52-0000-4000-8000-000000000001"

    /// The method, the URL, the system, the target, and the codes of notes.
    private static let uploads: [(String, String, SystemName, String?, [String])] = [
        ("POST", "https://incoming.telemetry.mozilla.org/\(submission)?v=4", .mozilla, "/\(submission)?v=4", []),
        ("post", "HTTPS://Incoming.Telemetry.Mozilla.ORG.:443/\(submission)", .mozilla, "/\(submission)", []),
        (
            "PUT", "http://incoming.telemetry.mozilla.org/\(submission)?=", .mozilla, "/\(submission)",
            ["method", "spurious_query"]
        ),
        ("POST", "https://incoming.telemetry.mozilla.org//\(submission)", .mozilla, nil, ["no-target"]),
        (
            "POST", "https://tiles.services.mozilla.com/v3/links/ping-centre#x", .activityStream,
            "/v3/links/ping-centre", []
        ),
        (
            "POST", "https://onyx_tiles.stage.mozaws.net/v3/links/ping-centre?", .activityStream,
            "/v3/links/ping-centre",
            ["staging", "spurious_query"]
        ),
        ("POST", "https://tiles.services.mozilla.com/v3/links/ping-centre?a=b", .activityStream, nil, ["no-target"]),
        (
            "PUT", "https://api3.siftscience.com/v3/accounts/a%62c/mobile_events", .sift,
            "/v3/accounts/abc/mobile_events",
            []
        ),
        (
            "POST", "https://api3.siftscience.com/v3/accounts/abc/mobile_events", .sift,
            "/v3/accounts/abc/mobile_events",
            ["method"]
        ),
        ("POST", "https://incoming.telemetry.mozilla.org\(gleanPath)", .glean, gleanPath, []),
        ("POST", "https://incoming.telemetry.mozilla.org\(gleanPath)?v=4", .glean, nil, ["no-target"]),
        (
            "POST", "https://incoming.telemetry.mozilla.org/submit/org-mozilla-ios-firefox/baseline/1/abc", .glean, nil,
            ["no-target"]
        ),
        ("POST", "https://api.leanplum.com/api", .leanplum, "/api", []),
        ("POST", "https://www.leanplum.com/%61pi", .leanplum, nil, ["no-target"]),
        ("POST", "https://app.adjust.com/event", .adjust, "/event", []),
        ("post", "http://SUBSCRIPTION.tr.Adjust.com.:443//v2/%70urchase/#x", .adjust, "/v2/purchase", []),
        ("POST", "https://gdpr.adjust.net.in/gdpr_forget_device?", .adjust, "/gdpr_forget_device", ["spurious_query"]),
        ("POST", "https://consent.adjust.world/session?x=1", .adjust, nil, ["no-target"]),
    ]

    @Test("Uploads are recognized by method, host and path.", arguments: uploads)
    func isUpload(method: String, url: String, system: SystemName, target: String?, notes: [String]) throws {
        let route = try UploadRoute(method: method, url: url)
        #expect(route.system == system)
        #expect(route.target?.path == target)
        #expect(route.target?.method == nil)
        #expect(route.notes.map(\.code) == notes)
        #expect(route.notes.allSatisfy { $0.code != "no-target" || $0.contains("path is /") && !$0.contains("?") })
    }

    @Test(
        "Other requests are not uploads.",
        arguments: [
            ("GET", "https://incoming.telemetry.mozilla.org/\(submission)"),
            ("OPTIONS", "https://tiles.services.mozilla.com/v3/links/ping-centre"),
            ("POST", "https://incoming.telemetry.mozilla.org/submit/org-mozilla-ios-firefox/baseline/1"),
            ("POST", "https://incoming.telemetry.mozilla.org/submit/telemetry/baseline/1/abc"),
            ("POST", "https://api.leanplum.com.evil.example/api"),
            ("POST", "https://evil.example/?https://api.leanplum.com/api"),
            ("POST", "https://api.leanplum.com@evil.example/api"),
            ("POST", "https://evil.example@api.leanplum.com/api"),
            ("POST", "https://xapi.leanplum.com/api"),
            ("POST", "https://api.leanplum.com:80x/api"),
            ("POST", "https://api.leanplum.com/api/x"),
            ("POST", "https://dev.leanplum.com/api"),
            ("POST", "ftp://api.leanplum.com/api"),
            ("POST", "//api.leanplum.com/api"),
            ("POST", "https://"), ("POST", ""), ("", "https://api.leanplum.com/api"),
            ("POST", "https://api.leanplum.com/%zz"),
            ("GET", "https://app.adjust.com/event"), ("GET", "https://app.adjust.com/attribution?app_token=x"),
            ("POST", "https://app.adjust.com/attribution"), ("POST", "https://app.adjust.com/EVENT"),
            ("POST", "https://app.adjust.com/v2%2Fpurchase"), ("POST", "https://app.adjust.com/event/x"),
            ("POST", "https://app.adjust.com/"), ("POST", "https://adjust.com/event"),
            ("POST", "https://app.adjust.com.evil.example/event"), ("POST", "https://evil.app.adjust.com/event"),
            ("POST", "https://app.cn.adjust.com/event"), ("OPTIONS", "https://app.adjust.com/event"),
        ])
    func isUnrelated(method: String, url: String) {
        #expect(traffic(method: method, url: url) == .unrelated)
    }

    @Test("Pings of the predecessor of Activity Stream are recognized.")
    func onyx() {
        let url = "https://tiles.services.mozilla.com/v3/links/activity-stream"
        #expect(traffic(method: "POST", url: url) == .onyx)
    }

    /// Returns the kind of traffic of a request that is not an upload.
    private func traffic(method: String, url: String) -> OtherTraffic? {
        let error = #expect(throws: BodyError.self) { try UploadRoute(method: method, url: url) }
        return if case .foreign(let traffic)? = error { traffic } else { nil }
    }
}
