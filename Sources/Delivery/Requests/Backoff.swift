/// The schedule for retrying a request.
public struct Backoff: Sendable, Equatable {
    /// The maximum number of attempts for one request in a job.
    public var maximumAttempts: Int
    /// The delay before the second attempt, in seconds, which is randomly shortened by up to half.
    ///
    /// The delay is doubled for each further attempt.
    public var initialDelay: Double
    /// The maximum delay, in seconds.
    ///
    /// If a server requests a longer delay, no more requests are sent to that server in this job. If the server
    /// requests a longer delay only between the uploads of one client, the other uploads of that client are left for a
    /// later job.
    public var maximumDelay: Double

    /// Creates a schedule with delays in seconds.
    public init(maximumAttempts: Int = 4, initialDelay: Double = 1, maximumDelay: Double = 30) {
        self.maximumAttempts = maximumAttempts
        self.initialDelay = initialDelay
        self.maximumDelay = maximumDelay
    }

    /// Returns the delay in seconds before the next attempt, or `nil` if no further attempt is made.
    ///
    /// No further attempt is made if `failures` has reached the maximum number of attempts, or if `retryAfter`, the
    /// delay in seconds that the server requests, exceeds the maximum delay. `jitter` is a random number from 0 to 1.
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
