/// How long to wait before a request is tried again, and when to leave it for another job.
public struct Backoff: Sendable, Equatable {
    /// How often one request is tried in a job.
    public var attempts: Int
    /// The longest first delay, in seconds; it doubles with each further attempt.
    public var base: Double
    /// The longest delay, in seconds. A server that wants to be left alone for longer is, for the rest of the job.
    public var limit: Double

    /// Sets a schedule; the delays are in seconds.
    public init(attempts: Int = 4, base: Double = 1, limit: Double = 30) {
        self.attempts = attempts
        self.base = base
        self.limit = limit
    }

    /// The delay before the next attempt, in seconds; nil if there is none.
    ///
    /// - Parameters:
    ///   - failures: how many attempts failed, from 1.
    ///   - retryAfter: what the server asked for, in seconds.
    ///   - jitter: a random number from 0 to 1, so that clients do not come back all at once.
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
