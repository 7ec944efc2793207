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
        var closingReason: UndeliveredReason?
        var pausedUntil: ContinuousClock.Instant?
        var consecutiveFailures = 0
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
    var closingReason: UndeliveredReason? { state.withLock { $0.closingReason } }

    /// Waits as long as the server wants to be left alone.
    /// - Returns: why nothing may be sent any more; nil if a request may be sent.
    func waitUntilOpen() async -> UndeliveredReason? {
        while true {
            let (closingReason, pausedUntil) = state.withLock { ($0.closingReason, $0.pausedUntil) }
            if let closingReason { return closingReason }
            if Task.isCancelled { return jobStoppedReason }
            guard let pausedUntil, pausedUntil > .now else { return nil }
            // Cancellation ends the wait, and the loop sees it.
            try? await Task.sleep(until: pausedUntil, clock: .continuous)
        }
    }

    /// Nothing goes to the server for a number of seconds.
    func pause(seconds: Int) {
        let until = ContinuousClock.now + .seconds(seconds)
        state.withLock { $0.pausedUntil = max($0.pausedUntil ?? until, until) }
    }

    /// Takes an outcome, and what it means for the requests that follow.
    func report(_ outcome: Outcome, _ impact: Attempts.Impact) {
        let reason = UndeliveredReason(system, .serverLeftAlone, outcome.reason ?? "", status: outcome.status)
        state.withLock { state in
            switch impact {
            case .none: state.consecutiveFailures = 0
            case .credentialRejected: break
            case .serverUnavailable: state.closingReason = state.closingReason ?? reason
            case .failure:
                state.consecutiveFailures += 1
                if state.consecutiveFailures >= failureLimit { state.closingReason = state.closingReason ?? reason }
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
        guard state.closingReason == nil, state.refusals[refusal, default: 0] >= refusalLimit else { return }
        let refusals = refusalLimit == 1 ? "1 refusal" : "\(refusalLimit) refusals"
        state.closingReason = UndeliveredReason(
            system, .refusalLimit, "stopped after \(refusals) with \(refusal.status)")
    }

    /// The reason of what was not sent because the job was told to stop.
    var jobStoppedReason: UndeliveredReason { UndeliveredReason(system, .jobStopped, "the job was stopped") }
}
