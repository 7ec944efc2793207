import Telemetry

/// The state of the attempts to send one request.
///
/// The state only decides on the next step. The caller performs the step.
struct Attempts {
    private let format: any UploadFormat
    private let backoff: Backoff
    private var failures = 0
    private var disconnections = 0
    private var mayHaveArrived = false
    /// The outcome of the last attempt, or `nil` if there was none.
    private var last: Outcome?

    /// The maximum number of immediate retries if the connection was closed, possibly because it had been idle.
    private static let immediateAttempts = 2

    init(of format: any UploadFormat, backoff: Backoff) {
        self.format = format
        self.backoff = backoff
    }

    /// Returns the next step after an attempt that received `answer`, whose body contains `instructions`.
    mutating func step(
        after answer: Answer, _ instructions: AnswerInstructions = AnswerInstructions(),
        jitter: @autoclosure () -> Double
    ) -> AttemptStep {
        let outcome = AnswerTable.outcome(of: answer, instructions, from: format)
        last = outcome
        switch outcome {
        case .delivered, .refused: return .finished(outcome, .none)
        case .unknown:
            mayHaveArrived = true
            failures += 1
            if let delay = delay(nil, jitter) { return .retry(after: delay) }
            return .finished(outcome, .failure)
        case .credentialWrong(let status, let reason, _):
            let impact: AttemptImpact = answer.status == 407 ? .serverUnavailable : .credentialRejected
            return .finished(.credentialWrong(status: status, reason: reason, mayHaveArrived: mayHaveArrived), impact)
        case .retryLater(_, let reason):
            let isTemporary =
                answer.status == 408 || answer.status == 425 || answer.status == 429 || answer.status >= 500
            let retryAfter = [answer.retryAfter, instructions.retryDelay].compactMap(\.self).max()
            failures += 1
            if isTemporary || instructions.retryDelay != nil, let delay = delay(retryAfter, jitter) {
                return .retry(after: delay)
            }
            let end = outcomeWithoutRetry(reason)
            // An instruction to retry concerns only this client, and shows that the server works.
            guard instructions.retryDelay == nil else { return .finished(end, .none) }
            let isUnavailable = !isTemporary || Double(retryAfter ?? 0) > backoff.maximumDelay
            return .finished(end, isUnavailable ? .serverUnavailable : .failure)
        }
    }

    /// Returns the pause in seconds that `answer` requests for its server, or `nil` if it requests none.
    ///
    /// Only an answer with status 429 or a server error can request a pause.
    static func requestedPause(in answer: Answer) -> Int? {
        answer.status == 429 || answer.status >= 500 ? answer.retryAfter : nil
    }

    /// Returns the next step after an attempt that received no answer because of `failure`.
    mutating func step(after failure: SendError, jitter: @autoclosure () -> Double) -> AttemptStep {
        if failure.mayHaveArrived { mayHaveArrived = true }
        last = .retryLater(reason: failure.description)
        // Each retry uses up one idle connection, so the number of retries is bounded.
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

    /// Returns the outcome of a request that is not retried: that of its last attempt or, without an attempt, that it is
    /// left for a later job because of `reason`, which is a message of this program.
    func outcomeWithoutRetry(_ reason: String) -> Outcome {
        switch last {
        case .retryLater(let status, let text) where mayHaveArrived:
            .unknown(reason: status.map { "\($0) \(text)" } ?? text)
        case let last?: last
        case nil: .retryLater(reason: reason)
        }
    }

    private func delay(_ retryAfter: Int?, _ jitter: () -> Double) -> Double? {
        backoff.delay(afterFailures: failures, retryAfter: retryAfter, jitter: jitter())
    }
}

/// The step that follows an attempt.
enum AttemptStep: Equatable {
    /// Send the request again after a delay in seconds.
    case retry(after: Double)
    /// Make no further attempt.
    case finished(Outcome, AttemptImpact)
}

/// The effect of an outcome on the requests that follow.
enum AttemptImpact: Equatable {
    /// The following requests are not affected, because the server works as expected.
    case none
    /// The server failed or is busy.
    case failure
    /// No request to this server can succeed in this job.
    case serverUnavailable
    /// No request with this credential can succeed.
    case credentialRejected
}

/// The schedule for retrying a request.
public struct Backoff: Sendable, Equatable {
    /// The maximum number of attempts for one request in a job.
    public var maximumAttempts = 4
    /// The delay before the second attempt, in seconds, which is randomly shortened by up to half.
    ///
    /// The delay is doubled for each further attempt.
    public var initialDelay = 1.0
    /// The maximum delay, in seconds.
    ///
    /// If a server requests a longer delay, no more requests are sent to that server in this job. If the server
    /// requests a longer delay only between the uploads of one client, the other uploads of that client are left for a
    /// later job.
    public var maximumDelay = 30.0

    /// Returns the delay in seconds before the next attempt, or `nil` if no further attempt is made.
    ///
    /// No further attempt is made if `failures` has reached the maximum number of attempts, or if `retryAfter`, the
    /// delay in seconds that the server requests, exceeds the maximum delay. `jitter` is a random number from 0 to 1.
    public func delay(afterFailures failures: Int, retryAfter: Int? = nil, jitter: Double) -> Double? {
        guard failures < maximumAttempts else { return nil }
        var delay = initialDelay
        for _ in 1..<max(1, failures) where delay < maximumDelay { delay *= 2 }
        delay = min(delay, maximumDelay) * (0.5 + jitter / 2)
        guard let retryAfter else { return delay }
        guard Double(retryAfter) <= maximumDelay else { return nil }
        return max(delay, Double(retryAfter))
    }
}

/// The rules that determine the outcome of an upload from the answer.
///
/// Some statuses have the same meaning for all systems. Each system defines the meaning of the other statuses. An
/// instruction to send the upload again takes precedence over the status.
///
/// Sources: "Delivery", "The meaning of an answer"; the format document of each system.
public enum AnswerTable {
    /// Returns the outcome of a request that received `answer`, whose body contains `instructions`.
    public static func outcome(
        of answer: Answer, _ instructions: AnswerInstructions = AnswerInstructions(), from format: any UploadFormat
    ) -> Outcome {
        // The body is not part of the reason, because it can contain data about the client.
        guard instructions.retryDelay == nil else {
            return .retryLater(status: answer.status, reason: "the server requires another attempt later")
        }
        func reason(_ meaning: String) -> String {
            format.answersContainClientData ? meaning : answer.reason(meaning)
        }
        switch answer.status {
        case 401, 403:
            return .credentialWrong(status: answer.status, reason: reason("the credential is not accepted"))
        case 407:
            return .credentialWrong(status: 407, reason: answer.reason("the proxy does not accept the credential"))
        case 408, 425, 429, 500...:
            return .retryLater(status: answer.status, reason: reason("the server is busy or failing"))
        case 300..<400:
            // A captive portal or a moved host redirects all requests, so the record is not at fault.
            return .retryLater(status: answer.status, reason: redirection(answer))
        case ..<200: return .retryLater(status: answer.status, reason: "the server answered with no final status")
        default: return format.outcome(of: answer)
        }
    }

    private static func redirection(_ answer: Answer) -> String {
        let place = answer.location.map { " to \(answer.line($0))" } ?? ""
        return "redirected\(place), which is not followed; if the endpoint moved, give its address with --endpoint"
    }
}

extension Outcome {
    /// The name of the outcome in logs.
    var name: String {
        switch self {
        case .delivered: "delivered"
        case .refused: "refused"
        case .retryLater: "later"
        case .unknown: "unknown"
        case .credentialWrong: "credential"
        }
    }

    /// The HTTP status of the answer that determined the outcome, or `nil` if no answer did or the outcome is unknown.
    var status: Int? {
        switch self {
        case .delivered(let status, _), .refused(let status, _), .credentialWrong(let status, _, _): status
        case .retryLater(let status, _): status
        case .unknown: nil
        }
    }

    /// The reason given by the server or this program, or `nil` if the upload succeeded without a remark.
    var reason: String? {
        switch self {
        case .delivered(_, let note): note
        case .refused(_, let reason), .retryLater(_, let reason), .unknown(let reason),
            .credentialWrong(_, let reason, _):
            reason
        }
    }

    /// Whether the outcome is final, so that no later job sends the upload again unless the operator requests it.
    var isSettled: Bool {
        switch self {
        case .delivered, .refused: true
        case .retryLater, .unknown, .credentialWrong: false
        }
    }
}
