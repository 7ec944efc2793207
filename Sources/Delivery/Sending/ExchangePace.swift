/// How long an exchange may go on: a request, and the whole of its answer.
///
/// A value without a clock: it is told what happens, and says until when to wait.
struct ExchangePace {
    /// What ends an exchange that goes on for too long.
    enum Bound: Sendable, Equatable {
        /// All of it takes too long.
        case deadline
        /// The server says nothing, or next to nothing.
        case silence
        /// The job was told to stop.
        case stop
    }

    private let deadline: ContinuousClock.Instant
    private let patience: Duration
    private var stop: ContinuousClock.Instant?
    /// When the server last said something; until it does, when the request went.
    private var lastNews: ContinuousClock.Instant?
    private var headCame: ContinuousClock.Instant?
    private var bytes = 0

    /// The slowest body that is waited for, in bytes a second on average, after as long as a server may say nothing.
    ///
    /// Answers are a few hundred bytes, so that no honest server is near this: one that gives a byte now and then would
    /// hold up a job otherwise.
    static let slowestBody = 1000

    /// Begins an exchange that may take `whole`, and of which a server may say nothing for `patience`.
    init(start: ContinuousClock.Instant, whole: Duration, patience: Duration) {
        deadline = start + whole
        self.patience = patience
    }

    /// The request went out, or was still on its way.
    mutating func requestGoes(at instant: ContinuousClock.Instant) {
        if headCame == nil { lastNews = instant }
    }

    /// The head of the answer came.
    mutating func headCame(at instant: ContinuousClock.Instant) {
        headCame = headCame ?? instant
        lastNews = instant
    }

    /// Some of the body came.
    mutating func bodyCame(_ count: Int, at instant: ContinuousClock.Instant) {
        bytes += count
        lastNews = instant
    }

    /// The job was told to stop, so that an answer has to come until an instant.
    mutating func stop(at instant: ContinuousClock.Instant) { stop = min(stop ?? instant, instant) }

    /// When the exchange is over, unless more comes before that, and why.
    var limit: (end: ContinuousClock.Instant, bound: Bound) {
        var limit = (end: deadline, bound: Bound.deadline)
        if let lastNews, lastNews + patience < limit.end { limit = (lastNews + patience, .silence) }
        if let headCame {
            let slowest = headCame + patience + .milliseconds(bytes * 1000 / Self.slowestBody)
            if slowest < limit.end { limit = (slowest, .silence) }
        }
        if let stop, stop < limit.end { limit = (stop, .stop) }
        return limit
    }
}
