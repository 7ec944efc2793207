import Synchronization
import Telemetry

/// Whether requests may go to a server now, as all clients of a job found it together.
///
/// A class, because the clients share it.
final class Gate: Sendable {
    private let state = Mutex(State())
    private let failureLimit: Int

    private struct State {
        var closed: String?
        var quietUntil: ContinuousClock.Instant?
        var failuresInARow = 0
    }

    /// Makes an open gate.
    /// - Parameter failureLimit: after how many clients in a row whose uploads failed for good the server is left alone.
    init(failureLimit: Int) {
        self.failureLimit = max(1, failureLimit)
    }

    /// Why the server is left alone for the rest of the job; nil while it is not.
    var closed: String? { state.withLock { $0.closed } }

    /// Waits as long as the server wants to be left alone.
    /// - Returns: why nothing may be sent any more; nil if a request may be sent.
    func pass() async -> String? {
        while true {
            let (closed, quietUntil) = state.withLock { ($0.closed, $0.quietUntil) }
            if let closed { return closed }
            if Task.isCancelled { return Self.stopped }
            guard let quietUntil, quietUntil > .now else { return nil }
            try? await Task.sleep(until: quietUntil, clock: .continuous)
        }
    }

    /// Nothing goes to the server for a number of seconds.
    func keepQuiet(seconds: Int) {
        let until = ContinuousClock.now + .seconds(seconds)
        state.withLock { $0.quietUntil = max($0.quietUntil ?? until, until) }
    }

    /// Takes in what an outcome means.
    func report(_ impact: Attempts.Impact, reason: String) {
        state.withLock { state in
            switch impact {
            case .none: state.failuresInARow = 0
            case .credentialIsOut: break
            case .serverIsOut: state.closed = state.closed ?? reason
            case .failure:
                state.failuresInARow += 1
                if state.failuresInARow >= failureLimit { state.closed = state.closed ?? reason }
            }
        }
    }

    /// The reason of what was not sent because the job was told to stop.
    static let stopped = "the job was stopped"
}
