import HTTP
import Telemetry
import Testing

@testable import Delivery

/// Tests the result of an exchange, and its time limits with a clock that the test sets.
@Suite struct ExchangeTests {
    private let start = ContinuousClock.now

    private func exchange() -> Exchange { Exchange(totalLimit: .seconds(600), idleLimit: .seconds(60), from: start) }

    @Test func partialAnswerIsUsedAfterFailure() throws {
        let exchange = exchange()
        let head = HTTPResponseHead(status: 400, fields: ["retry-after": "7"])
        exchange.didReceiveHead(head, at: start)
        let part = Array("no".utf8)
        let wantsMore = exchange.didReceiveBody(part.span, at: start)
        #expect(wantsMore)
        let answer = try #require(exchange.answer(.failed(.cut)))
        #expect(answer.head == head)
        #expect(answer.body == Array("no".utf8))
        #expect(!answer.isWhole)
    }

    @Test func missingHeadMeansNoAnswer() {
        let exchange = exchange()
        exchange.didStartSending(at: start)
        for end in [HTTPOutcome.complete, .late, .failed(.closed)] { #expect(exchange.answer(end) == nil) }
    }

    @Test func completeAnswerIsWhole() throws {
        let exchange = exchange()
        exchange.didReceiveHead(HTTPResponseHead(status: 200), at: start)
        #expect(try #require(exchange.answer(.complete)).isWhole)
    }

    @Test func stalledBodyIsNotWhole() throws {
        let exchange = exchange()
        exchange.didReceiveHead(HTTPResponseHead(status: 200), at: start)
        #expect(exchange.end == start + .seconds(60))
        #expect(exchange.expiry.cause == .silence)
        #expect(try !#require(exchange.answer(.late)).isWhole)
    }

    @Test func endlessBodyIsReadUpToItsLimit() throws {
        let exchange = exchange()
        exchange.didReceiveHead(HTTPResponseHead(status: 200), at: start)
        let part = [UInt8](repeating: 0x20, count: 1 << 20)
        var parts = 1
        while exchange.didReceiveBody(part.span, at: start) { parts += 1 }
        #expect(parts == 17)
        let answer = try #require(exchange.answer(.enough))
        #expect(answer.body.count == Answer.bodyLimit && !answer.isWhole)
    }

    @Test func stoppedJobDoesNotWaitForAnAnswer() {
        let exchange = exchange()
        exchange.stop(at: start + .seconds(1))
        #expect(exchange.end == start + .seconds(4))
        #expect(exchange.expiry.cause == .stop)
    }

    // MARK: Time limits

    private func limited() -> Exchange { Exchange(totalLimit: .seconds(120), idleLimit: .seconds(30), from: start) }

    private func receive(_ count: Int, in exchange: Exchange, at instant: ContinuousClock.Instant) {
        let part = [UInt8](repeating: 0x20, count: count)
        _ = exchange.didReceiveBody(part.span, at: instant)
    }

    @Test func connectionHasUntilTheDeadline() {
        #expect(limited().expiry == (start + .seconds(120), .deadline))
    }

    @Test func headHasTheIdleLimit() {
        let exchange = limited()
        exchange.didStartSending(at: start + .seconds(5))
        #expect(exchange.expiry == (start + .seconds(35), .silence))
        // A part of a long body was sent late.
        exchange.didStartSending(at: start + .seconds(35))
        #expect(exchange.expiry == (start + .seconds(65), .silence))
    }

    @Test func deadlineAppliesBeforeTheIdleLimit() {
        let exchange = limited()
        exchange.didStartSending(at: start + .seconds(100))
        #expect(exchange.expiry == (start + .seconds(120), .deadline))
    }

    @Test func stalledBodyHasTheIdleLimit() {
        let exchange = limited()
        exchange.didReceiveHead(HTTPResponseHead(status: 200), at: start + .seconds(5))
        #expect(exchange.expiry == (start + .seconds(35), .silence))
    }

    @Test func slowBodyExtendsTheLimitByItsBytes() {
        let exchange = limited()
        exchange.didReceiveHead(HTTPResponseHead(status: 200), at: start)
        for second in 1...29 { receive(1, in: exchange, at: start + .seconds(second)) }
        #expect(exchange.expiry == (start + .milliseconds(30_029), .silence))
    }

    @Test func fastBodyHasUntilTheDeadline() {
        let exchange = limited()
        exchange.didReceiveHead(HTTPResponseHead(status: 200), at: start)
        receive(50_000, in: exchange, at: start + .seconds(60))
        #expect(exchange.expiry == (start + .seconds(80), .silence))
        receive(1 << 20, in: exchange, at: start + .seconds(100))
        #expect(exchange.expiry == (start + .seconds(120), .deadline))
    }

    @Test func idleLimitAppliesAfterAFastStart() {
        let exchange = limited()
        exchange.didReceiveHead(HTTPResponseHead(status: 200), at: start)
        receive(1 << 20, in: exchange, at: start + .seconds(1))
        #expect(exchange.expiry == (start + .seconds(31), .silence))
    }

    @Test func secondHeadDoesNotRestartTheBodyLimit() {
        let exchange = limited()
        exchange.didReceiveHead(HTTPResponseHead(status: 200), at: start)
        exchange.didReceiveHead(HTTPResponseHead(status: 200), at: start + .seconds(29))
        #expect(exchange.expiry == (start + .seconds(30), .silence))
    }

    @Test func stopOnlyShortensTheLimit() {
        let exchange = limited()
        exchange.didStartSending(at: start)
        exchange.stop(at: start + .seconds(37))
        #expect(exchange.expiry == (start + .seconds(30), .silence))
        exchange.stop(at: start + .seconds(10))
        exchange.stop(at: start + .seconds(17))
        #expect(exchange.expiry == (start + .seconds(13), .stop))
    }
}
