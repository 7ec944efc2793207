import HTTP
import Telemetry
import Testing

@testable import Delivery

/// Tests the result of an exchange.
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
        #expect(exchange.timeoutCause == .silence)
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
        #expect(exchange.timeoutCause == .stop)
    }
}
