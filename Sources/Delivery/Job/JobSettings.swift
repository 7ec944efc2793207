import Telemetry

/// The settings of a job.
public struct JobSettings: Sendable {
    /// The settings for requests, where `connections` is also the maximum number of concurrently served clients.
    public var sender: SenderSettings
    /// The credentials of the accounts.
    public var credentials: Credentials
    /// The schedule of retries.
    public var backoff = Backoff()
    /// The number of consecutive failed uploads after which no more requests are sent to a server.
    public var consecutiveFailureLimit = 5
    /// The number of identical refusals after which no more requests are sent to a server, or `nil` for no limit.
    public var equalRefusalLimit: Int? = 25
    /// The maximum number of requests in a second to all servers together, or `nil` for no limit.
    public var requestsPerSecond: Double?
    /// A function that receives a log entry for each finished upload, or `nil` to log no uploads.
    ///
    /// The function must return quickly, because the thread that transfers data calls it.
    public var log: (@Sendable (JobEvent) -> Void)?
    /// A function that returns the current time.
    public var now: @Sendable () -> Timestamp
    /// A function that returns a random number from 0 to 1, so that clients do not retry simultaneously.
    public var jitter: @Sendable () -> Double = { Double.random(in: 0...1) }

    /// Creates settings with the default limits.
    public init(sender: SenderSettings, credentials: Credentials, now: @escaping @Sendable () -> Timestamp) {
        self.sender = sender
        self.credentials = credentials
        self.now = now
    }
}
