/// The schedule for retrying a request.
public struct Backoff: Sendable, Equatable {
    /// The maximum number of attempts for one request in a job.
    public var maximumAttempts: Int
    /// The maximum delay before the second attempt, in seconds, doubled for each further attempt.
    public var initialDelay: Double
    /// The maximum delay, in seconds.
    ///
    /// If a server requests a longer delay, no more requests are sent to it in this job. If it requests a longer delay
    /// between the uploads of a client, the other uploads of the client are left for a later job.
    public var maximumDelay: Double

    /// Creates a schedule with delays in seconds.
    public init(maximumAttempts: Int = 4, initialDelay: Double = 1, maximumDelay: Double = 30) {
        self.maximumAttempts = maximumAttempts
        self.initialDelay = initialDelay
        self.maximumDelay = maximumDelay
    }

    /// Returns the delay in seconds after the given number of failures, or `nil` if no further attempt is made.
    public func delay(afterFailures failures: Int, retryAfter: Int? = nil, jitter: Double) -> Double? {
        guard failures < maximumAttempts else { return nil }
        var delay = initialDelay
        for _ in 1..<max(1, failures) where delay < maximumDelay { delay *= 2 }
        delay = min(delay, maximumDelay) * (0.5 + jitter / 2)
        guard let retryAfter else { return delay }
        guard Double(retryAfter) <= maximumDelay else { return nil }
        return max(delay, Double(retryAfter))
    }
}
