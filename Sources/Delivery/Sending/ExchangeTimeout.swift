/// The time limits of an exchange, which is a request and its complete answer.
///
/// The value has no clock. Its methods receive the time of each event.
struct ExchangeTimeout {
    /// The limit that ends an exchange.
    enum Cause: Sendable, Equatable {
        /// The exchange takes too long as a whole.
        case deadline
        /// The server sends no data for too long, or sends data too slowly.
        case silence
        /// The job was stopped.
        case stop
    }

    private let deadline: ContinuousClock.Instant
    private let idleLimit: Duration
    /// The time by which the exchange must end because the job was stopped, or `nil` if it was not stopped.
    private var stop: ContinuousClock.Instant?
    /// The time at which the last data from the server arrived, or at which sending began if no data has arrived.
    ///
    /// The value is `nil` until sending begins.
    private var lastActivity: ContinuousClock.Instant?
    /// The time at which the head of the answer arrived, or `nil` if it has not arrived.
    private var headArrival: ContinuousClock.Instant?
    private var bytes = 0

    /// The minimum average rate of a body, in bytes per second, after the idle limit has passed.
    ///
    /// Answers are a few hundred bytes long, so only a server that deliberately sends slowly is below this rate.
    static let minimumBodyRate = 1000

    init(start: ContinuousClock.Instant, totalLimit: Duration, idleLimit: Duration) {
        deadline = start + totalLimit
        self.idleLimit = idleLimit
    }

    mutating func didSendRequest(at instant: ContinuousClock.Instant) {
        if headArrival == nil { lastActivity = instant }
    }

    mutating func didReceiveHead(at instant: ContinuousClock.Instant) {
        headArrival = headArrival ?? instant
        lastActivity = instant
    }

    mutating func didReceiveBody(_ count: Int, at instant: ContinuousClock.Instant) {
        bytes += count
        lastActivity = instant
    }

    /// Requires the exchange to end by `instant`, because the job was stopped.
    mutating func stop(at instant: ContinuousClock.Instant) { stop = min(stop ?? instant, instant) }

    /// The time at which the exchange ends unless more data arrives, and the limit that determines it.
    var expiry: (end: ContinuousClock.Instant, cause: Cause) {
        var limit = (end: deadline, cause: Cause.deadline)
        if let lastActivity, lastActivity + idleLimit < limit.end { limit = (lastActivity + idleLimit, .silence) }
        if let headArrival {
            let slowest = headArrival + idleLimit + .milliseconds(bytes * 1000 / Self.minimumBodyRate)
            if slowest < limit.end { limit = (slowest, .silence) }
        }
        if let stop, stop < limit.end { limit = (stop, .stop) }
        return limit
    }
}
