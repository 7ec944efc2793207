/// The schedule for retrying a request.
public struct Backoff: Sendable, Equatable {
    /// The maximum number of attempts for one request in a job.
    public var attempts: Int
    /// The maximum delay before the second attempt, in seconds, doubled for each further attempt.
    public var base: Double
    /// The maximum delay, in seconds.
    ///
    /// If a server requests a longer delay, no more requests are sent to it in this job.
    public var limit: Double

    /// Creates a schedule with delays in seconds.
    public init(attempts: Int = 4, base: Double = 1, limit: Double = 30) {
        self.attempts = attempts
        self.base = base
        self.limit = limit
    }

    /// Returns the delay in seconds after the given number of failures, or `nil` if no further attempt is made.
    public func delay(afterFailures failures: Int, retryAfter: Int? = nil, jitter: Double) -> Double? {
        guard failures < attempts else { return nil }
        var delay = base
        for _ in 1..<max(1, failures) where delay < limit { delay *= 2 }
        delay = min(delay, limit) * (0.5 + jitter / 2)
        guard let retryAfter else { return delay }
        guard Double(retryAfter) <= limit else { return nil }
        return max(delay, Double(retryAfter))
    }
}
