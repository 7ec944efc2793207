import Mozilla
import Telemetry
import Testing

@testable import Delivery

/// Tests when a request is sent again, and its outcome after several attempts.
@Suite struct AttemptsTests {
    private func attempts(_ attempts: Int = 4, limit: Double = 30) -> Attempts {
        Attempts(
            of: uploads(.mozilla), backoff: Backoff(maximumAttempts: attempts, initialDelay: 1, maximumDelay: limit))
    }

    private let busy = Answer(status: 503)
    private let busyReason = "the server is busy or failing"
    private let cut = SendError(.disconnected, "cut")

    @Test func delaysDoubleUntilNoAttemptIsLeft() {
        var attempts = attempts()
        #expect(attempts.step(after: busy, jitter: 1) == .retry(after: 1))
        #expect(attempts.step(after: busy, jitter: 1) == .retry(after: 2))
        #expect(attempts.step(after: busy, jitter: 1) == .retry(after: 4))
        #expect(
            attempts.step(after: busy, jitter: 1) == .finished(.retryLater(status: 503, reason: busyReason), .failure))
    }

    @Test(arguments: [(0.0, 0.5), (0.5, 0.75), (1.0, 1.0)])
    func jitterShortensDelayByUpToHalf(jitter: Double, delay: Double) {
        var attempts = attempts()
        #expect(attempts.step(after: busy, jitter: jitter) == .retry(after: delay))
    }

    @Test func delaysHaveALimit() {
        let backoff = Backoff(maximumAttempts: 100, initialDelay: 1, maximumDelay: 30)
        #expect(backoff.delay(afterFailures: 5, jitter: 1) == 16)
        #expect(backoff.delay(afterFailures: 6, jitter: 1) == 30)
        #expect(backoff.delay(afterFailures: 99, jitter: 1) == 30)
        #expect(backoff.delay(afterFailures: 100, jitter: 1) == nil)
    }

    @Test func requestedDelayIsObserved() {
        var attempts = attempts()
        #expect(attempts.step(after: Answer(status: 429, retryAfter: 7), jitter: 0) == .retry(after: 7))
        #expect(attempts.step(after: Answer(status: 429, retryAfter: 0), jitter: 0) == .retry(after: 1))
    }

    @Test func requestedDelayBeyondLimitEndsAttempts() {
        var attempts = attempts()
        let step = attempts.step(after: Answer(status: 429, retryAfter: 31), jitter: 0)
        #expect(step == .finished(.retryLater(status: 429, reason: busyReason), .serverUnavailable))
    }

    private let retryReason = "the server requires another attempt later"

    @Test(arguments: [200, 302, 400, 401, 404, 429, 503])
    func retryInstructionTakesPrecedenceOverTheStatus(status: Int) {
        let answer = Answer(status: status)
        var attempts = attempts(2)
        #expect(attempts.step(after: answer, AnswerInstructions(retryDelay: 7), jitter: 0) == .retry(after: 7))
        #expect(
            attempts.step(after: answer, AnswerInstructions(retryDelay: 7), jitter: 0)
                == .finished(.retryLater(status: status, reason: retryReason), .none))
    }

    @Test func retryInstructionBeyondLimitEndsAttempts() {
        var attempts = attempts()
        let step = attempts.step(after: Answer(status: 200), AnswerInstructions(retryDelay: 31), jitter: 0)
        #expect(step == .finished(.retryLater(status: 200, reason: retryReason), .none))
    }

    @Test func onlyHeadersOfFailuresPauseTheServer() {
        func pause(_ status: Int, header: Int?) -> Int? {
            Attempts.requestedPause(in: Answer(status: status, retryAfter: header))
        }
        #expect(pause(200, header: 9) == nil && pause(503, header: nil) == nil)
        #expect(pause(503, header: 9) == 9 && pause(429, header: 2) == 2)
    }

    @Test func closedConnectionIsReplacedImmediately() {
        var attempts = attempts()
        #expect(attempts.step(after: cut, jitter: 1) == .retry(after: 0))
        #expect(attempts.step(after: cut, jitter: 1) == .retry(after: 0))
        #expect(attempts.step(after: cut, jitter: 1) == .retry(after: 1))
        #expect(attempts.step(after: Answer(status: 200), jitter: 1) == .finished(.delivered(status: 200), .none))
    }

    @Test func unsentRequestUsesAnotherConnection() {
        var attempts = attempts(1)
        for _ in 1...20 {
            #expect(attempts.step(after: SendError(.unsolicited, "stray"), jitter: 1) == .retry(after: 0))
        }
        #expect(
            attempts.step(after: busy, jitter: 1) == .finished(.retryLater(status: 503, reason: busyReason), .failure))
    }

    @Test func lastOutcomeIsKeptWithoutARetry() {
        var attempts = attempts(2)
        #expect(attempts.outcomeWithoutRetry("stopped") == .retryLater(reason: "stopped"))
        _ = attempts.step(after: busy, jitter: 1)
        #expect(attempts.outcomeWithoutRetry("stopped") == .retryLater(status: 503, reason: busyReason))
    }

    @Test func possibleArrivalIsRemembered() {
        var attempts = attempts(2)
        _ = attempts.step(after: cut, jitter: 1)
        _ = attempts.step(after: busy, jitter: 1)
        #expect(attempts.step(after: busy, jitter: 1) == .finished(.unknown(reason: "503 \(busyReason)"), .failure))
        #expect(attempts.outcomeWithoutRetry("stopped") == .unknown(reason: "503 \(busyReason)"))
        var wrong = attempts
        #expect(
            wrong.step(after: Answer(status: 401), jitter: 1)
                == .finished(
                    .credentialWrong(status: 401, reason: "the credential is not accepted", mayHaveArrived: true),
                    .credentialRejected))
    }

    @Test func unsentRequestIsRetriedLater() {
        var attempts = attempts(2)
        let refused = SendError(.notConnected, "refused")
        #expect(attempts.step(after: refused, jitter: 1) == .retry(after: 1))
        #expect(attempts.step(after: refused, jitter: 1) == .finished(.retryLater(reason: "refused"), .failure))
    }

    @Test func untrustedServerIsNotRetried() {
        var attempts = attempts()
        #expect(
            attempts.step(after: SendError(.notTrusted, "expired"), jitter: 1)
                == .finished(.retryLater(reason: "expired"), .serverUnavailable))
    }

    @Test(arguments: [(401, AttemptImpact.credentialRejected), (403, .credentialRejected), (407, .serverUnavailable)])
    func rejectedCredentialHasImpactOnAccountOrServer(status: Int, impact: AttemptImpact) {
        var attempts = attempts()
        guard
            case .finished(.credentialWrong(status, _, false), let found) = attempts.step(
                after: Answer(status: status), jitter: 1)
        else {
            Issue.record("no wrong credential")
            return
        }
        #expect(found == impact)
    }

    @Test func redirectMakesServerUnavailable() {
        var attempts = attempts()
        guard
            case .finished(.retryLater(302, _), .serverUnavailable) = attempts.step(
                after: Answer(status: 302), jitter: 1)
        else {
            Issue.record("no end")
            return
        }
    }

    private func gate(refusals: Int? = nil) -> Gate {
        Gate(of: .mozilla, consecutiveFailureLimit: 3, equalRefusalLimit: refusals)
    }

    @Test func gateClosesAfterConsecutiveFailures() async {
        let gate = gate()
        let busy = Outcome.retryLater(status: 503, reason: "busy")
        for impact in [AttemptImpact.failure, .failure, .none, .failure, .failure] {
            gate.report(busy, impact)
            #expect(gate.closingReason == nil)
        }
        gate.report(busy, .failure)
        #expect(gate.closingReason?.phrase == "not tried after 503 busy")
        #expect(await gate.waitUntilOpen()?.code == "server-left-alone")
    }

    @Test func gateClosesAfterEqualRefusals() {
        let gate = gate(refusals: 3)
        for reason in ["no", "no", "never", "not today"] {
            gate.report(.refused(status: 400, reason: reason), .none)
            gate.report(.delivered(status: 200), .none)
            #expect(gate.closingReason == nil)
        }
        gate.report(.refused(status: 413, reason: "no"), .none)
        #expect(gate.closingReason == nil)
        gate.report(.refused(status: 400, reason: "no"), .none)
        #expect(gate.closingReason?.phrase == "stopped after 3 refusals with 400")
        #expect(gate.closingReason?.code == "refusal-limit")
    }

    @Test func gateDoesNotDelayCancelledTask() async {
        let gate = gate()
        gate.pause(seconds: 3600)
        let task = Task { await gate.waitUntilOpen() }
        task.cancel()
        #expect(await task.value == gate.jobStoppedReason)
    }
}
