import Telemetry

/// The wish of a server to be left alone for a while, which holds for later jobs too.
///
/// Source: RFC 9110, section 10.2.3 (`Retry-After`).
public struct Pause: Sendable, Hashable {
    /// The server, as ``Endpoint/address`` has it.
    public let endpoint: String
    /// When it said so.
    public let requested: Timestamp
    /// Until when, to the second.
    public let until: Timestamp

    /// The maximumSeconds wish that is granted, in seconds: a mistaken one must not end all uploads for years.
    static let maximumSeconds = 7 * 86_400

    /// Whether the server is to be left alone now. A wish from a future that never came was requested by a wrong clock.
    public func isActive(at now: Timestamp) -> Bool {
        now < until && requested.milliseconds - now.milliseconds <= PlanRules.clockToleranceMilliseconds
    }
}

extension Pause {
    /// Creates a pause of a number of seconds from now on.
    init(endpoint: String, seconds: Int, now: Timestamp) {
        let end = now.milliseconds + Int64(min(max(0, seconds), Self.maximumSeconds)) * 1000
        self.init(endpoint: endpoint, requested: now, until: Timestamp(clamping: (end + 999) / 1000 * 1000))
    }
}
