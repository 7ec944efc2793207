import Synchronization
import Telemetry

/// Whether requests may go to a server now, as all clients of a job found it together.
///
/// A class, because the clients share it.
final class Gate: Sendable {
    private let state = Mutex(State())
    private let system: SystemName
    private let failureLimit: Int
    private let refusalLimit: Int?

    private struct State {
        var closed: LeftReason?
        var quietUntil: ContinuousClock.Instant?
        var failuresInARow = 0
        var refusals: [Refusal: Int] = [:]
    }

    private struct Refusal: Hashable {
        let status: Int
        let reason: String
    }

    /// Creates an open gate.
    /// - Parameters:
    ///   - system: The system whose server it is.
    ///   - failureLimit: The number of clients in a row whose uploads failed after which the server is left alone.
    ///   - refusalLimit: The number of equal refusals after which the server is left alone; `nil` for no limit.
    init(to system: SystemName, failureLimit: Int, refusalLimit: Int? = nil) {
        self.system = system
        self.failureLimit = max(1, failureLimit)
        self.refusalLimit = refusalLimit
    }

    /// Why the server is left alone for the rest of the job; nil while it is not.
    var closed: LeftReason? { state.withLock { $0.closed } }

    /// Waits as long as the server wants to be left alone.
    /// - Returns: why nothing may be sent any more; nil if a request may be sent.
    func pass() async -> LeftReason? {
        while true {
            let (closed, quietUntil) = state.withLock { ($0.closed, $0.quietUntil) }
            if let closed { return closed }
            if Task.isCancelled { return stopped }
            guard let quietUntil, quietUntil > .now else { return nil }
            // Cancellation ends the wait, and the loop sees it.
            try? await Task.sleep(until: quietUntil, clock: .continuous)
        }
    }

    /// Nothing goes to the server for a number of seconds.
    func keepQuiet(seconds: Int) {
        let until = ContinuousClock.now + .seconds(seconds)
        state.withLock { $0.quietUntil = max($0.quietUntil ?? until, until) }
    }

    /// Takes an outcome, and what it means for the requests that follow.
    func report(_ outcome: Outcome, _ impact: Attempts.Impact) {
        let reason = LeftReason(system, .serverLeftAlone, outcome.reason ?? "", status: outcome.status)
        state.withLock { state in
            switch impact {
            case .none: state.failuresInARow = 0
            case .credentialIsOut: break
            case .serverIsOut: state.closed = state.closed ?? reason
            case .failure:
                state.failuresInARow += 1
                if state.failuresInARow >= failureLimit { state.closed = state.closed ?? reason }
            }
            if case .refused(let status, let reason) = outcome {
                count(Refusal(status: status, reason: reason), &state)
            }
        }
    }

    /// Counts a refusal. Uploads that are refused use up the daily quota, so that equal ones are not repeated without
    /// end.
    private func count(_ refusal: Refusal, _ state: inout State) {
        guard let refusalLimit else { return }
        state.refusals[refusal, default: 0] += 1
        guard state.closed == nil, state.refusals[refusal, default: 0] >= refusalLimit else { return }
        let refusals = refusalLimit == 1 ? "1 refusal" : "\(refusalLimit) refusals"
        state.closed = LeftReason(system, .refusalLimit, "stopped after \(refusals) with \(refusal.status)")
    }

    /// The reason of what was not sent because the job was told to stop.
    var stopped: LeftReason { LeftReason(system, .jobStopped, "the job was stopped") }
}
