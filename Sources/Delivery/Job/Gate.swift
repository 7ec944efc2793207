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
        /// The largest number of equal refusals.
        var equalRefusals = 0
        /// The number of requests without an outcome, each of which can become a refusal.
        var requestsUnderWay = 0
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private enum Decision {
        case open
        case closed(UndeliveredReason)
        case paused(until: ContinuousClock.Instant)
        /// The requests under way could reach the limit of equal refusals.
        case full
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

    /// Waits until a request may be sent, which the caller then has to end with ``report(_:_:)`` or ``repeatLater()``.
    ///
    /// - Returns: The reason why no request may be sent, or `nil` if the gate is open.
    func waitUntilOpen() async -> UndeliveredReason? {
        while true {
            let isStopped = Task.isCancelled
            let decision = state.withLock { state -> Decision in
                if let reason = state.closingReason { return .closed(reason) }
                if isStopped { return .closed(jobStoppedReason) }
                if let end = state.pauseEnd, end > .now { return .paused(until: end) }
                guard !isFull(state) else { return .full }
                state.requestsUnderWay += 1
                return .open
            }
            switch decision {
            case .open: return nil
            case .closed(let reason): return reason
            // Cancellation ends the sleep. The next iteration returns the reason.
            case .paused(let end): try? await Task.sleep(until: end, clock: .continuous)
            case .full: await waitForOutcome()
            }
        }
    }

    private func isFull(_ state: State) -> Bool {
        equalRefusalLimit.map { state.equalRefusals + state.requestsUnderWay >= $0 } ?? false
    }

    /// Waits until a request under way has an outcome.
    private func waitForOutcome() async {
        await withCheckedContinuation { continuation in
            let mustWait = state.withLock { state in
                let mustWait = state.closingReason == nil && isFull(state)
                if mustWait { state.waiters.append(continuation) }
                return mustWait
            }
            if !mustWait { continuation.resume() }
        }
    }

    /// Ends a request that is sent again later.
    func repeatLater() { endRequest { _ in } }

    /// Ends a request, after `body` has changed the state because of its outcome.
    private func endRequest(_ body: (inout sending State) -> Void) {
        let waiters = state.withLock { state in
            body(&state)
            state.requestsUnderWay -= 1
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Delays all requests to the server by at least `seconds` from now.
    func pause(seconds: Int) {
        let until = ContinuousClock.now + .seconds(seconds)
        state.withLock { $0.pauseEnd = max($0.pauseEnd ?? until, until) }
    }

    /// Ends a request with its outcome and its effect on later requests, and closes the gate if a limit is reached.
    func report(_ outcome: Outcome, _ impact: AttemptImpact) {
        let reason = UndeliveredReason(system, .serverStopped, outcome.reason ?? "", status: outcome.status)
        endRequest { state in
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
        state.equalRefusals = max(state.equalRefusals, state.refusalCounts[refusal, default: 0])
        guard state.closingReason == nil, state.refusalCounts[refusal, default: 0] >= equalRefusalLimit else { return }
        let refusals = equalRefusalLimit.counted("refusal")
        state.closingReason = UndeliveredReason(
            system, .refusalLimit, "stopped after \(refusals) with \(refusal.status)")
    }

    var jobStoppedReason: UndeliveredReason {
        UndeliveredReason(system, .jobStopped, "the job was stopped by a signal or after --max-duration")
    }
}

/// The minimum interval between the requests of a job.
///
/// A class, because all clients of the job share it.
final class RequestPace: Sendable {
    private let interval: Duration
    private let nextTime = Mutex(ContinuousClock.now)

    init(requestsPerSecond: Double) { interval = .seconds(1 / requestsPerSecond) }

    /// Waits for the next free time, or until the job is stopped.
    func wait() async {
        let time = nextTime.withLock { next in
            let time = max(next, .now)
            next = time + interval
            return time
        }
        // Cancellation ends the sleep. The caller then sends no request.
        try? await Task.sleep(until: time, clock: .continuous)
    }
}
