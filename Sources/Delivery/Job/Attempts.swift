import Telemetry

/// The attempts to send one request, as a value: what to do after each is decided here, and done elsewhere.
struct Attempts {
    /// What to do next.
    enum Step: Equatable {
        /// Send it again, after a number of seconds.
        case retry(after: Double)
        /// No further attempt is made.
        case finished(Outcome, Impact)
    }

    /// What an outcome means for the requests that follow it.
    enum Impact: Equatable {
        /// The server works.
        case none
        /// The server fails, or is busy.
        case failure
        /// No request to this server can succeed for now.
        case serverUnavailable
        /// No request with this credential can succeed.
        case credentialRejected
    }

    private let format: UploadFormat
    private let backoff: Backoff
    private var failures = 0
    private var disconnections = 0
    private var mayHaveArrived = false

    /// How often a request is sent again at once because its connection ended: it may have been idle for too long, and
    /// so may the next one that is taken.
    private static let immediateAttempts = 2

    /// Starts with no attempt made.
    init(of format: UploadFormat, backoff: Backoff) {
        self.format = format
        self.backoff = backoff
    }

    /// What to do after an answer. Chance is asked for only where there is a delay.
    mutating func step(after answer: Answer, jitter: @autoclosure () -> Double) -> Step {
        let outcome = AnswerTable.outcome(of: answer, from: format)
        switch outcome {
        case .delivered, .refused:
            return .finished(outcome, .none)
        case .unknown:
            mayHaveArrived = true
            failures += 1
            if let delay = delay(nil, jitter) { return .retry(after: delay) }
            return .finished(outcome, .failure)
        case .credentialWrong(let status, let reason, _):
            let impact: Impact = answer.status == 407 ? .serverUnavailable : .credentialRejected
            return .finished(.credentialWrong(status: status, reason: reason, mayHaveArrived: mayHaveArrived), impact)
        case .retryLater(_, let reason):
            let isPassing = answer.status == 408 || answer.status == 425 || answer.status == 429 || answer.status >= 500
            failures += 1
            if isPassing, let delay = delay(answer.retryAfter, jitter) { return .retry(after: delay) }
            let isOut = !isPassing || Double(answer.retryAfter ?? 0) > backoff.limit
            let end = mayHaveArrived ? .unknown(reason: "\(answer.status) \(reason)") : outcome
            return .finished(end, isOut ? .serverUnavailable : .failure)
        }
    }

    /// What to do after an attempt without an answer.
    mutating func step(after failure: SendError, jitter: @autoclosure () -> Double) -> Step {
        if failure.mayHaveArrived { mayHaveArrived = true }
        // Each such attempt closes a connection that was kept, so that their number is bounded.
        if failure.kind == .unsolicited { return .retry(after: 0) }
        if failure.kind == .disconnected, disconnections < Self.immediateAttempts {
            disconnections += 1
            return .retry(after: 0)
        }
        failures += 1
        if failure.kind != .notTrusted, let delay = delay(nil, jitter) { return .retry(after: delay) }
        return .finished(
            outcomeWithoutRetry(failure.description), failure.kind == .notTrusted ? .serverUnavailable : .failure)
    }

    /// The outcome where no further attempt is made, for a reason that is not the server's.
    func outcomeWithoutRetry(_ reason: String) -> Outcome {
        mayHaveArrived ? .unknown(reason: reason) : .retryLater(reason: reason)
    }

    private func delay(_ retryAfter: Int?, _ jitter: () -> Double) -> Double? {
        backoff.delay(afterFailures: failures, retryAfter: retryAfter, jitter: jitter())
    }
}
