import Bytes
import Synchronization
import Telemetry

/// A gate that controls whether the clients of a job may send requests to one server.
///
/// A class, because all clients of the job share it.
final class Gate: Sendable {
    private let state = Mutex(State())
    private let system: SystemName
    private let consecutiveFailureLimit: Int
    private let equalRefusalLimit: Int?

    private struct State {
        var closingReason: UndeliveredReason?
        var pauseEnd: ContinuousClock.Instant?
        var consecutiveFailures = 0
        var refusalCounts: [Refusal: Int] = [:]
    }

    private struct Refusal: Hashable {
        let status: Int
        @CapturedText var reason: String
    }

    /// Creates an open gate of a server of `system`, with the limits that ``JobSettings`` describes.
    init(of system: SystemName, consecutiveFailureLimit: Int, equalRefusalLimit: Int? = nil) {
        self.system = system
        self.consecutiveFailureLimit = max(1, consecutiveFailureLimit)
        self.equalRefusalLimit = equalRefusalLimit
    }

    /// The reason why no further request is sent to the server in this job, or `nil` while the gate is open.
    var closingReason: UndeliveredReason? { state.withLock { $0.closingReason } }

    /// Waits until the pause of the server has ended.
    ///
    /// - Returns: The reason why no request may be sent, or `nil` if the gate is open.
    func waitUntilOpen() async -> UndeliveredReason? {
        while true {
            let (closingReason, pauseEnd) = state.withLock { ($0.closingReason, $0.pauseEnd) }
            if let closingReason { return closingReason }
            if Task.isCancelled { return jobStoppedReason }
            guard let pauseEnd, pauseEnd > .now else { return nil }
            // Cancellation ends the sleep. The next iteration returns the reason.
            try? await Task.sleep(until: pauseEnd, clock: .continuous)
        }
    }

    /// Delays all requests to the server by at least `seconds` from now.
    func pause(seconds: Int) {
        let until = ContinuousClock.now + .seconds(seconds)
        state.withLock { $0.pauseEnd = max($0.pauseEnd ?? until, until) }
    }

    /// Records an outcome and its effect on later requests, and closes the gate if a limit is reached.
    func report(_ outcome: Outcome, _ impact: Attempts.Impact) {
        let reason = UndeliveredReason(system, .serverStopped, outcome.reason ?? "", status: outcome.status)
        state.withLock { state in
            switch impact {
            case .none: state.consecutiveFailures = 0
            case .credentialRejected: break
            case .serverUnavailable: state.closingReason = state.closingReason ?? reason
            case .failure:
                state.consecutiveFailures += 1
                if state.consecutiveFailures >= consecutiveFailureLimit {
                    state.closingReason = state.closingReason ?? reason
                }
            }
            if case .refused(let status, let reason) = outcome {
                count(Refusal(status: status, reason: reason), &state)
            }
        }
    }

    /// Counts a refusal, and closes the gate at the limit, because refused uploads use up the daily quota.
    private func count(_ refusal: Refusal, _ state: inout State) {
        guard let equalRefusalLimit else { return }
        state.refusalCounts[refusal, default: 0] += 1
        guard state.closingReason == nil, state.refusalCounts[refusal, default: 0] >= equalRefusalLimit else { return }
        let refusals = equalRefusalLimit == 1 ? "1 refusal" : "\(equalRefusalLimit) refusals"
        state.closingReason = UndeliveredReason(
            system, .refusalLimit, "stopped after \(refusals) with \(refusal.status)")
    }

    var jobStoppedReason: UndeliveredReason { UndeliveredReason(system, .jobStopped, "the job was stopped") }
}
