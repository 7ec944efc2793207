import Testing

@testable import Delivery

/// Tests the time limits of an exchange with a clock that the test sets.
@Suite struct ExchangeTimeoutTests {
    private let start = ContinuousClock.now

    private func timeout() -> ExchangeTimeout {
        ExchangeTimeout(start: start, totalLimit: .seconds(120), idleLimit: .seconds(30))
    }

    @Test func connectionHasUntilTheDeadline() {
        #expect(timeout().expiry == (start + .seconds(120), .deadline))
    }

    @Test func headHasTheIdleLimit() {
        var timeout = timeout()
        timeout.didSendRequest(at: start + .seconds(5))
        #expect(timeout.expiry == (start + .seconds(35), .silence))
        // A part of a long body was sent late.
        timeout.didSendRequest(at: start + .seconds(35))
        #expect(timeout.expiry == (start + .seconds(65), .silence))
    }

    @Test func deadlineAppliesBeforeTheIdleLimit() {
        var timeout = timeout()
        timeout.didSendRequest(at: start + .seconds(100))
        #expect(timeout.expiry == (start + .seconds(120), .deadline))
    }

    @Test func stalledBodyHasTheIdleLimit() {
        var timeout = timeout()
        timeout.didReceiveHead(at: start + .seconds(5))
        #expect(timeout.expiry == (start + .seconds(35), .silence))
    }

    @Test func slowBodyExtendsTheLimitByItsBytes() {
        var timeout = timeout()
        timeout.didReceiveHead(at: start)
        for second in 1...29 { timeout.didReceiveBody(1, at: start + .seconds(second)) }
        #expect(timeout.expiry == (start + .milliseconds(30_029), .silence))
    }

    @Test func fastBodyHasUntilTheDeadline() {
        var timeout = timeout()
        timeout.didReceiveHead(at: start)
        timeout.didReceiveBody(50_000, at: start + .seconds(60))
        #expect(timeout.expiry == (start + .seconds(80), .silence))
        timeout.didReceiveBody(1 << 30, at: start + .seconds(100))
        #expect(timeout.expiry == (start + .seconds(120), .deadline))
    }

    @Test func idleLimitAppliesAfterAFastStart() {
        var timeout = timeout()
        timeout.didReceiveHead(at: start)
        timeout.didReceiveBody(1 << 20, at: start + .seconds(1))
        #expect(timeout.expiry == (start + .seconds(31), .silence))
    }

    @Test func secondHeadDoesNotRestartTheBodyLimit() {
        var timeout = timeout()
        timeout.didReceiveHead(at: start)
        timeout.didReceiveHead(at: start + .seconds(29))
        #expect(timeout.expiry == (start + .seconds(30), .silence))
    }

    @Test func stopOnlyShortensTheLimit() {
        var timeout = timeout()
        timeout.didSendRequest(at: start)
        timeout.stop(at: start + .seconds(40))
        #expect(timeout.expiry == (start + .seconds(30), .silence))
        timeout.stop(at: start + .seconds(13))
        timeout.stop(at: start + .seconds(20))
        #expect(timeout.expiry == (start + .seconds(13), .stop))
    }
}
