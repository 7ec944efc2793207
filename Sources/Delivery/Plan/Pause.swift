import Telemetry

/// A pause requested by a server, which also applies to later jobs.
///
/// Source: RFC 9110, section 10.2.3 (`Retry-After`).
public struct Pause: Sendable, Hashable {
    /// The address of the server, in the form of `Endpoint.address`.
    public let endpoint: String
    /// The time at which the server requested the pause.
    public let requestTime: Timestamp
    /// The end of the pause, with a precision of seconds.
    public let endTime: Timestamp

    /// The maximum length of a pause, in seconds, so that a faulty server does not stop all uploads for years.
    static let maximumSeconds = 7 * 86_400

    /// Returns whether the pause is in effect at `now`.
    public func isActive(at now: Timestamp) -> Bool {
        // A pause that was requested more than a day in the future is ignored, because the clock was wrong.
        now < endTime && requestTime.milliseconds - now.milliseconds <= PlanRules.clockToleranceMilliseconds
    }
}

extension Pause {
    /// Creates a pause that lasts `seconds` from `now`, but at most ``maximumSeconds``.
    init(endpoint: String, seconds: Int, now: Timestamp) {
        let end = now.milliseconds + Int64(min(max(0, seconds), Self.maximumSeconds)) * 1000
        self.init(endpoint: endpoint, requestTime: now, endTime: Timestamp(clamping: (end + 999) / 1000 * 1000))
    }
}
