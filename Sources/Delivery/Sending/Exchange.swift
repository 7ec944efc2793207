import HTTP
import Synchronization
import Telemetry

/// One request and what comes back of its answer, bounded in time and size.
///
/// A client tells it what arrives, and asks it how long to wait: a server that gives a byte now and then must not hold up a
/// job.
///
/// A class, because the client and the sender share it.
final class Exchange: HTTPReceiver {
    private struct State {
        var timeout: ExchangeTimeout
        var head: HTTPHead?
        var body: [UInt8] = []
        var length = 0
    }

    private let state: Mutex<State>

    /// How long answers may still take once the job was told to stop. The job has to end within 5 seconds: what is left
    /// of them is for the ledger.
    static let stopGracePeriod = Duration.seconds(3)
    /// How much of a body is read, so that its connection can be used again.
    private static let bodyReadLimit = 16 * Answer.bodyLimit
    /// The fields of a header that say something here.
    static let wantedFields = ["location", "retry-after"]

    /// Begins now.
    init(totalLimit: Duration, idleLimit: Duration, from start: ContinuousClock.Instant = .now) {
        state = Mutex(State(timeout: ExchangeTimeout(start: start, totalLimit: totalLimit, idleLimit: idleLimit)))
    }

    // MARK: What a client tells and asks

    func requestGoes(at instant: ContinuousClock.Instant) { state.withLock { $0.timeout.didSendRequest(at: instant) } }

    /// The head of the answer came: from now on it is known what became of the request.
    func headCame(_ head: HTTPHead, at instant: ContinuousClock.Instant) {
        state.withLock { state in
            state.head = head
            state.timeout.didReceiveHead(at: instant)
        }
    }

    func bodyCame(_ part: Span<UInt8>, at instant: ContinuousClock.Instant) -> Bool {
        state.withLock { state in
            state.length += part.count
            state.timeout.didReceiveBody(part.count, at: instant)
            let wanted = min(part.count, Answer.bodyLimit - state.body.count)
            for index in 0..<wanted { state.body.append(part[index]) }
            return state.length <= Self.bodyReadLimit
        }
    }

    var end: ContinuousClock.Instant { state.withLock { $0.timeout.expiry.end } }

    // MARK: Its end

    /// The job was told to stop: only a little longer is waited now.
    func stop(at instant: ContinuousClock.Instant = .now) {
        state.withLock { $0.timeout.stop(at: instant + Self.stopGracePeriod) }
    }

    /// What bounds it now.
    var timeoutCause: ExchangeTimeout.Cause { state.withLock { $0.timeout.expiry.cause } }

    /// What came of the answer; nil if not even its head did.
    /// - Parameter end: why the exchange is over.
    func answer(_ end: HTTPEnd) -> (head: HTTPHead, body: [UInt8], isWhole: Bool)? {
        state.withLock { state in
            guard let head = state.head else { return nil }
            return (head, state.body, end == .complete && state.length == state.body.count)
        }
    }
}
