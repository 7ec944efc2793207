import Bytes

/// The types of packages.
///
/// The path of a package determines its type.
///
/// Source: "Adjust iOS SDK: the package queue on disk, records, upload", section 7.2.
enum AdjustType {
    static let event = "event"
    static let revenue = "revenue"
    static let session = "session"
    /// A request to forget the device, which is sent before all other packages of the client.
    static let deletionRequest = "gdpr"
    static let subscription = "subscription"
    static let purchaseVerification = "purchase_verification"
    /// The type of a package whose path and kind are unknown.
    static let unknown = "unknown"

    /// The types of packages that report a choice of the user on sharing or measurement.
    static let consents: Set<CapturedText> = [
        "disable_third_party_sharing", "measurement_consent", "third_party_sharing",
    ]

    /// The type of each path that the server accepts.
    static let byPath: [CapturedText: String] = [
        "/ad_revenue": "ad_revenue", "/disable_third_party_sharing": "disable_third_party_sharing", "/event": event,
        "/gdpr_forget_device": deletionRequest, "/measurement_consent": "measurement_consent",
        "/reattribute": "reattribution", "/revenue": revenue, "/sdk_click": "click", "/sdk_info": "info",
        "/session": session, "/startup": session, "/third_party_sharing": "third_party_sharing",
        "/v2/purchase": subscription, "/verify": purchaseVerification,
    ]

    /// Returns the documented path whose decoded components are `parts`, or `nil` if there is none.
    static func path(ofParts parts: [[UInt8]]) -> String? {
        let path = parts.map { "/" + String(decoding: $0, as: UTF8.self) }.joined()
        // The slashes are counted, because a decoded component can contain one.
        return byPath[path] != nil && path.utf8.count { $0 == UInt8(ascii: "/") } == parts.count ? path : nil
    }

    /// Returns whether `kind` is the kind that the SDK stores for packages with the path `path`.
    static func isKind(_ kind: String?, ofPath path: String) -> Bool {
        kind == byPath[path] || path == "/startup" && kind == "session start"
    }

    /// Returns whether the stored kind `kind` has the form of a type.
    static func isName(_ kind: String) -> Bool { kind.wholeMatch(of: /[a-z][a-z0-9_]{0,39}/) != nil }
}
