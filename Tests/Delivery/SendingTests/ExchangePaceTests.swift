import Testing

@testable import Delivery

/// How long an exchange may go on, by a clock that the test sets.
@Suite struct ExchangePaceTests {
    private let start = ContinuousClock.now

    private func pace() -> ExchangePace { ExchangePace(start: start, whole: .seconds(120), patience: .seconds(30)) }

    @Test func aConnectionHasUntilTheDeadline() {
        #expect(pace().limit == (start + .seconds(120), .deadline))
    }

    @Test func theHeadHasAsLongAsAServerMaySayNothing() {
        var pace = pace()
        pace.requestGoes(at: start + .seconds(5))
        #expect(pace.limit == (start + .seconds(35), .silence))
        // Some of a long body was still on its way.
        pace.requestGoes(at: start + .seconds(35))
        #expect(pace.limit == (start + .seconds(65), .silence))
    }

    @Test func theDeadlineIsOneAlsoForAServerThatIsWaitedFor() {
        var pace = pace()
        pace.requestGoes(at: start + .seconds(100))
        #expect(pace.limit == (start + .seconds(120), .deadline))
    }

    @Test func aBodyThatStallsHasAsLongAsAServerMaySayNothing() {
        var pace = pace()
        pace.headCame(at: start + .seconds(5))
        #expect(pace.limit == (start + .seconds(35), .silence))
    }

    @Test func dripsBuyNextToNoTime() {
        var pace = pace()
        pace.headCame(at: start)
        for second in 1...29 { pace.bodyCame(1, at: start + .seconds(second)) }
        #expect(pace.limit == (start + .milliseconds(30_029), .silence))
    }

    @Test func aBodyAtAGoodPaceHasUntilTheDeadlineAndNoLonger() {
        var pace = pace()
        pace.headCame(at: start)
        pace.bodyCame(50_000, at: start + .seconds(60))
        #expect(pace.limit == (start + .seconds(80), .silence))
        pace.bodyCame(1 << 30, at: start + .seconds(100))
        #expect(pace.limit == (start + .seconds(120), .deadline))
    }

    @Test func alsoAfterAFastStartAServerMayNotSayNothingForLonger() {
        var pace = pace()
        pace.headCame(at: start)
        pace.bodyCame(1 << 20, at: start + .seconds(1))
        #expect(pace.limit == (start + .seconds(31), .silence))
    }

    @Test func aSecondHeadChangesNothing() {
        var pace = pace()
        pace.headCame(at: start)
        pace.headCame(at: start + .seconds(29))
        #expect(pace.limit == (start + .seconds(30), .silence))
    }

    @Test func aStopShortensWhatIsLeftAndProlongsNothing() {
        var pace = pace()
        pace.requestGoes(at: start)
        pace.stop(at: start + .seconds(40))
        #expect(pace.limit == (start + .seconds(30), .silence))
        pace.stop(at: start + .seconds(13))
        pace.stop(at: start + .seconds(20))
        #expect(pace.limit == (start + .seconds(13), .stop))
    }
}
