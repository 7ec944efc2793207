import Telemetry
import Testing

@testable import Delivery

/// What comes of an exchange, whatever the library below does.
@Suite struct ExchangeTests {
    private func exchange(_ whole: Duration = .seconds(600)) -> Exchange {
        Exchange(whole: whole, patience: .seconds(600))
    }

    /// Goes on after its task was cancelled, as a library may.
    private static func deaf() async { await Task.detached { try? await Task.sleep(for: .seconds(3600)) }.value }

    @Test func aLibraryThatNeverComesBackIsNotWaitedFor() async {
        let exchange = exchange(.milliseconds(20))
        let end = await exchange.run { _ throws(SendFailure) in
            await Self.deaf()
        }
        #expect(end == .late)
        #expect(exchange.answer(end) == nil)
    }

    @Test func aBodyThatStallsIsNotWaitedForUntilTheDeadline() async throws {
        let exchange = Exchange(whole: .seconds(3600), patience: .milliseconds(20))
        let end = await exchange.run { exchange throws(SendFailure) in
            exchange.headCame(AnswerHead(status: 200))
            await Self.deaf()
        }
        #expect(end == .late)
        let answer = try #require(exchange.answer(end))
        #expect(answer.head.status == 200 && !answer.isWhole)
    }

    @Test func whatCameBeforeALibraryFailedIsTheAnswer() async throws {
        let exchange = exchange()
        let cut = SendFailure(.disconnected, "cut")
        let end = await exchange.run { exchange throws(SendFailure) in
            exchange.headCame(AnswerHead(status: 400, retryAfter: "7"))
            _ = exchange.bodyCame(Array("no".utf8))
            throw cut
        }
        #expect(end == .failed(cut))
        let answer = try #require(exchange.answer(end))
        #expect(answer.head == AnswerHead(status: 400, retryAfter: "7"))
        #expect(answer.body == Array("no".utf8))
        #expect(!answer.isWhole)
    }

    @Test func aWholeAnswerIsWhole() async throws {
        let exchange = exchange()
        let end = await exchange.run { exchange throws(SendFailure) in exchange.headCame(AnswerHead(status: 200)) }
        #expect(end == .complete)
        #expect(try #require(exchange.answer(end)).isWhole)
    }

    @Test func aBodyWithoutEndIsReadNoFurtherThanItsLimit() async throws {
        let exchange = exchange()
        let end = await exchange.run { exchange throws(SendFailure) in
            exchange.headCame(AnswerHead(status: 200))
            let part = [UInt8](repeating: 0x20, count: 1 << 20)
            for _ in 1...1000 where !exchange.bodyCame(part) { return }
        }
        #expect(end == .enough)
        let answer = try #require(exchange.answer(end))
        #expect(answer.body.count == Answer.bodyLimit && !answer.isWhole)
    }

    @Test func aJobThatIsStoppedDoesNotWaitForAnAnswer() async {
        let exchange = exchange()
        let task = Task {
            await exchange.run { _ throws(SendFailure) in
                await Self.deaf()
            }
        }
        task.cancel()
        #expect(await task.value == .stopped)
    }
}
