/// How long an exchange may go on: a request, and the whole of its answer.
///
/// A value without a clock: it is told what happens, and says until when to wait.
struct ExchangeTimeout {
    /// What ends an exchange that goes on for too long.
    enum Cause: Sendable, Equatable {
        /// All of it takes too long.
        case deadline
        /// The server says nothing, or next to nothing.
        case silence
        /// The job was told to stop.
        case stop
    }

    private let deadline: ContinuousClock.Instant
    private let idleLimit: Duration
    private var stop: ContinuousClock.Instant?
    /// When the server last said something; until it does, when the request went.
    private var lastActivity: ContinuousClock.Instant?
    private var headArrival: ContinuousClock.Instant?
    private var bytes = 0

    /// The slowest body that is waited for, in bytes a second on average, after as long as a server may say nothing.
    ///
    /// Answers are a few hundred bytes, so that no honest server is near this: one that gives a byte now and then would
    /// hold up a job otherwise.
    static let minimumBodyRate = 1000

    /// Begins an exchange that may take `whole`, and of which a server may say nothing for `idleLimit`.
    init(start: ContinuousClock.Instant, totalLimit: Duration, idleLimit: Duration) {
        deadline = start + totalLimit
        self.idleLimit = idleLimit
    }

    /// The request went out, or was still on its way.
    mutating func didSendRequest(at instant: ContinuousClock.Instant) {
        if headArrival == nil { lastActivity = instant }
    }

    /// The head of the answer came.
    mutating func didReceiveHead(at instant: ContinuousClock.Instant) {
        headArrival = headArrival ?? instant
        lastActivity = instant
    }

    /// Some of the body came.
    mutating func didReceiveBody(_ count: Int, at instant: ContinuousClock.Instant) {
        bytes += count
        lastActivity = instant
    }

    /// The job was told to stop, so that an answer has to come until an instant.
    mutating func stop(at instant: ContinuousClock.Instant) { stop = min(stop ?? instant, instant) }

    /// When the exchange is over, unless more comes before that, and why.
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
