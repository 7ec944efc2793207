import Testing

@testable import Delivery

/// How long an exchange may go on, by a clock that the test sets.
@Suite struct ExchangePaceTests {
    private let start = ContinuousClock.now

    private func pace() -> ExchangePace { ExchangePace(start: start, whole: .seconds(120), patience: .seconds(30)) }

    @Test func theHeadHasUntilTheDeadline() { #expect(pace().end == start + .seconds(120)) }

    @Test func aBodyThatStallsHasAsLongAsAServerMaySayNothing() {
        var pace = pace()
        pace.headCame(at: start + .seconds(5))
        #expect(pace.end == start + .seconds(35))
    }

    @Test func dripsBuyNextToNoTime() {
        var pace = pace()
        pace.headCame(at: start)
        for _ in 1...60 { pace.bodyCame(1) }
        #expect(pace.end == start + .milliseconds(30_060))
    }

    @Test func aBodyAtAGoodPaceHasUntilTheDeadlineAndNoLonger() {
        var pace = pace()
        pace.headCame(at: start)
        pace.bodyCame(50_000)
        #expect(pace.end == start + .seconds(80))
        pace.bodyCame(1 << 30)
        #expect(pace.end == start + .seconds(120))
    }

    @Test func aSecondHeadChangesNothing() {
        var pace = pace()
        pace.headCame(at: start)
        pace.headCame(at: start + .seconds(60))
        #expect(pace.end == start + .seconds(30))
    }
}
