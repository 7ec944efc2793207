import JSONText

/// The version of the SDK that wrote a ping.
///
/// Source: "Mozilla Glean SDK on iOS: on-disk stores, normalized pings, upload", sections 3 and 6.
enum GleanSDKVersion {
    /// The first major version whose events on iOS have timestamps in milliseconds instead of nanoseconds.
    static let firstWithMilliseconds = 36

    /// Returns the major version that the ping in `document` states, or `nil` if it states none.
    static func major(in document: JSONDocument) -> Int? {
        guard let client = document.value(of: GleanKeys.clientInfo, .object, in: document.root),
            let version = document.text(GleanKeys.sdkBuild, in: client)
        else { return nil }
        return Int(version.prefix { $0.isASCII && $0.isNumber })
    }
}
