import Bytes
import Telemetry
import Testing

@testable import Adjust

/// Tests the names of the SDK and of the app, and the paths of types.
///
/// Source: "Adjust iOS SDK: the package queue on disk, records, upload", sections 7.2 and 7.4.
@Suite struct AdjustClientTests {
    @Test(
        "The version of the SDK follows the last at sign",
        arguments: [
            ("ios4.10.2", [4, 10, 2]), ("ios2.0", [2, 0]), ("ios5", [5]), ("unity4.11.4@ios4.11.5", [4, 11, 5]),
            ("a@b@ios4.38.2", [4, 38, 2]), ("@ios4.17.1", [4, 17, 1]), ("ios04.010", [4, 10]), ("", nil), ("ios", nil),
            ("ios.", nil), ("ios4.", nil), ("ios.4", nil), ("ios4..1", nil), ("ios4.1b", nil), ("ios4.-1", nil),
            ("ios4.+1", nil), ("ios 4.1", nil), ("IOS4.1", nil), ("android4.17.0", nil), ("ios4.1@", nil),
            ("ios4.1@flutter4.1", nil), ("ios99999999999999999999", nil), ("ios４.１", nil),
        ] as [(String, [Int]?)])
    func version(name: String, version: [Int]?) {
        #expect(AdjustHeaders.version(ofSDK: name) == version)
    }

    @Test(
        "Versions are compared number by number",
        arguments: [
            ([4, 35, 1], [4, 35, 2], true), ([4, 35], [4, 35, 2], true), ([4, 35, 2], [4, 35, 2], false),
            ([4, 9], [4, 35, 2], true), ([4, 100], [4, 35, 2], false), ([5], [5], false), ([5, 0, 0], [5], false),
            ([4, 38, 2], [5], true), ([3, 4, 0], [4], true), ([4, 0, 0], [4], false),
        ])
    func order(version: [Int], other: [Int], precedes: Bool) {
        #expect(version.lexicographicallyPrecedes(other) == precedes)
    }

    @Test(
        "A name of the SDK that can be sent consists of the documented characters",
        arguments: [
            ("ios4.11.5", true), ("unity4.11.4@ios4.11.5", true), ("react-native4.18.1@ios4.18.3", true),
            ("a_b+c", true), ("4", true), (String(repeating: "x", count: 64), true),
            (String(repeating: "x", count: 65), false), ("", false), ("@ios4.17.1", false), (".ios", false),
            ("ios 4.17", false), ("ios4.17.1\r\nHost: x", false), ("ios4\u{0}", false), ("iös4.17", false),
            ("ios/4", false), ("ios:4", false), ("ios４", false),
        ])
    func sdk(name: String, isAllowed: Bool) {
        #expect(AdjustHeaders.isValidSDKName(name) == isAllowed)
    }

    @Test(
        "A name of the app that can be sent is printable ASCII",
        arguments: [
            ("com.example.kiosk 77 iPhone iPhone6,1 ios 7.1.1 de AT", true), (" ", true), ("~", true),
            (String(repeating: "y", count: 512), true), (String(repeating: "y", count: 513), false), ("", false),
            ("a\r\nHost: x", false), ("a\tb", false), ("a\u{7F}", false), ("iPhöne", false), ("a\u{0}", false),
        ])
    func agent(name: String, isAllowed: Bool) {
        #expect(AdjustHeaders.isValidUserAgent(name) == isAllowed)
    }

    // MARK: Types

    /// The documented paths and their types.
    static let types: [(String, String)] = [
        ("/ad_revenue", "ad_revenue"), ("/disable_third_party_sharing", "disable_third_party_sharing"),
        ("/event", "event"), ("/gdpr_forget_device", "gdpr"), ("/measurement_consent", "measurement_consent"),
        ("/reattribute", "reattribution"), ("/revenue", "revenue"), ("/sdk_click", "click"), ("/sdk_info", "info"),
        ("/session", "session"), ("/startup", "session"), ("/third_party_sharing", "third_party_sharing"),
        ("/v2/purchase", "subscription"), ("/verify", "purchase_verification"),
    ]

    @Test("Each documented path has a type, and no other path has one")
    func paths() {
        #expect(AdjustType.byPath == Dictionary(uniqueKeysWithValues: Self.types.map { (CapturedText($0), $1) }))
    }

    @Test("The components of a documented path are compared completely", arguments: types)
    func parts(path: String, type: String) {
        let parts = path.split(separator: "/").map { Array($0.utf8) }
        #expect(AdjustType.path(ofParts: parts) == path)
        #expect(AdjustType.path(ofParts: parts + [[]]) == nil)
        #expect(AdjustType.path(ofParts: parts + [Array("x".utf8)]) == nil)
        #expect(AdjustType.path(ofParts: [Array("v1".utf8)] + parts) == nil)
        #expect(AdjustType.path(ofParts: parts.map { Array($0.dropLast()) }) == nil)
    }

    @Test(
        "Other components are no path",
        arguments: [
            [], [""], ["attribution"], ["EVENT"], ["event", "event"], ["/event"], ["v2/purchase"], ["v2"], ["purchase"],
            ["purchase", "v2"], ["event?x=1"], ["event\u{0}"],
        ] as [[String]])
    func otherParts(parts: [String]) {
        #expect(AdjustType.path(ofParts: parts.map { Array($0.utf8) }) == nil)
    }

    @Test("Components that are not UTF-8 are no path")
    func invalidParts() {
        #expect(AdjustType.path(ofParts: [[0xFF]]) == nil)
        #expect(AdjustType.path(ofParts: [Array("event".utf8) + [0xC3]]) == nil)
    }

    @Test(
        "The first sessions have another kind",
        arguments: [
            ("session", "/session", true), ("session", "/startup", true), ("session start", "/startup", true),
            ("session start", "/session", false), ("event", "/event", true), ("unknown", "/event", false),
            ("Event", "/event", false), (nil, "/event", false), ("gdpr", "/gdpr_forget_device", true),
        ] as [(String?, String, Bool)])
    func kinds(kind: String?, path: String, isUsual: Bool) {
        #expect(AdjustType.isKind(kind, ofPath: path) == isUsual)
    }

    @Test(
        "A kind is a type if it is a short word",
        arguments: [
            ("install_referrer", true), ("a", true), ("a1_", true), ("a" + String(repeating: "b", count: 39), true),
            ("a" + String(repeating: "b", count: 40), false), ("", false), ("1a", false), ("_a", false),
            ("Event", false), ("session start", false), ("a-b", false), ("ä", false), ("a\n", false),
        ])
    func names(kind: String, isName: Bool) {
        #expect(AdjustType.isName(kind) == isName)
    }
}
