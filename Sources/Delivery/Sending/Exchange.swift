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
    static let stopGracePeriod = Duration.seconds(3)
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
