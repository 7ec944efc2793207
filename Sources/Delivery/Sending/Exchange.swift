import HTTP
import Synchronization
import Telemetry

/// One request and its answer, with limits on time and size.
///
/// The HTTP client reports the progress to the exchange and asks it how long to wait. A server that sends data very
/// slowly must not delay the job.
///
/// A class, because the client and the sender share it.
final class Exchange: HTTPReceiver {
    private struct State {
        var timeout: ExchangeTimeout
        var head: HTTPResponseHead?
        var body: [UInt8] = []
        var length = 0
    }

    private let state: Mutex<State>

    /// The time in which answers must arrive after the job was stopped, because the job has to end within 5 seconds.
    private static let stopGracePeriod = Duration.seconds(3)
    /// The maximum number of bytes of a body that are read in order to reuse the connection.
    private static let bodyReadLimit = 16 * Answer.bodyLimit
    static let keptFields = ["location", "retry-after"]

    init(totalLimit: Duration, idleLimit: Duration, from start: ContinuousClock.Instant = .now) {
        state = Mutex(State(timeout: ExchangeTimeout(start: start, totalLimit: totalLimit, idleLimit: idleLimit)))
    }

    // MARK: HTTPReceiver

    func didStartSending(at instant: ContinuousClock.Instant) {
        state.withLock { $0.timeout.didSendRequest(at: instant) }
    }

    /// Stores the head of the answer, after which the request counts as answered.
    func didReceiveHead(_ head: HTTPResponseHead, at instant: ContinuousClock.Instant) {
        state.withLock { state in
            state.head = head
            state.timeout.didReceiveHead(at: instant)
        }
    }

    func didReceiveBody(_ part: Span<UInt8>, at instant: ContinuousClock.Instant) -> Bool {
        state.withLock { state in
            state.length += part.count
            state.timeout.didReceiveBody(part.count, at: instant)
            let accepted = min(part.count, Answer.bodyLimit - state.body.count)
            for index in 0..<accepted { state.body.append(part[index]) }
            return state.length <= Self.bodyReadLimit
        }
    }

    var end: ContinuousClock.Instant { state.withLock { $0.timeout.expiry.end } }

    // MARK: Result

    /// Shortens the remaining time, because the job was stopped.
    func stop(at instant: ContinuousClock.Instant = .now) {
        state.withLock { $0.timeout.stop(at: instant + Self.stopGracePeriod) }
    }

    /// The time limit that currently determines when the exchange ends.
    var timeoutCause: ExchangeTimeout.Cause { state.withLock { $0.timeout.expiry.cause } }

    /// Returns the received part of the answer to a request that ended with `end`, or `nil` if no head was received.
    func answer(_ end: HTTPOutcome) -> (head: HTTPResponseHead, body: [UInt8], isWhole: Bool)? {
        state.withLock { state in
            guard let head = state.head else { return nil }
            return (head, state.body, end == .complete && state.length == state.body.count)
        }
    }
}

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
    private static let minimumBodyRate = 1000

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
