import Telemetry

/// How a job is run.
public struct JobSettings: Sendable {
    /// How requests are sent; its `connections` is also the number of clients that are served at once.
    public var sender: SenderSettings
    /// The credentials of the accounts.
    public var credentials: Credentials
    /// When a request is sent again.
    public var backoff = Backoff()
    /// After how many clients in a row whose uploads failed for good a server is left alone.
    public var failureLimit = 5
    /// The number of equal refusals after which a system is stopped; `nil` for no limit.
    public var refusalLimit: Int? = 25
    /// Told of each upload that came to its end.
    public var log: (@Sendable (JobEvent) -> Void)?
    /// The clock.
    public var now: @Sendable () -> Timestamp
    /// Random numbers from 0 to 1.
    public var jitter: @Sendable () -> Double = { Double.random(in: 0...1) }

    /// Makes settings.
    public init(sender: SenderSettings, credentials: Credentials, now: @escaping @Sendable () -> Timestamp) {
        self.sender = sender
        self.credentials = credentials
        self.now = now
    }
}
