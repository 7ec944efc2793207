import Telemetry
import TestSupport
import Testing

@testable import Sift

/// Tests the queue rules in section 7 of "Sift iOS SDK: on-disk store, list request".
@Suite struct SiftQueueRulesTests {
    private static let now: Int64 = 1_758_600_000_000

    private func rules(_ queue: String, _ era: SiftQueueRules.Era = .current) throws -> SiftQueueRules {
        try #require(SiftQueueRules(queue: queue, era: era))
    }

    @Test(
        "The queues of the SDK have the rules of their version",
        arguments: [
            ("sift-default", SiftQueueRules.Era.first, 512, 60, 0),
            ("sift-default", .second, 32, 60, 0),
            ("sift-default", .third, 32, 60, 0),
            ("sift-default", .current, 32, 60, 0),
            ("sift-devprops", .first, 8, 60, 600),
            ("sift-devprops", .second, 8, 60, 3600),
            ("sift-devprops", .third, 0, 0, 3600),
            ("sift-devprops", .current, 0, 0, 3600),
        ])
    func configuration(
        queue: String, era: SiftQueueRules.Era, moreThan: Int, olderThan: Int64, sameAfter: Int64
    ) throws {
        let expected = SiftQueueRules(
            era: era, uploadWhenMoreThan: moreThan, uploadWhenOlderThan: olderThan, acceptSameEventAfter: sameAfter)
        #expect(try rules(queue, era) == expected)
    }

    @Test("The rules of an app's own queue are unknown", arguments: ["orders", "", "sift-default2", "Sift-default"])
    func appQueue(identifier: String) {
        #expect(SiftQueueRules(queue: identifier, era: .current) == nil)
    }

    @Test("The default queue is ready with its 33rd event")
    func count() throws {
        let rules = try rules("sift-default")
        #expect(rules.readiness(pendingCount: 33, clockTime: Self.now, now: Self.now) == .tooMany(limit: 32))
        #expect(
            rules.readiness(pendingCount: 32, clockTime: Self.now, now: Self.now)
                == .waiting(until: Self.now + 60_001, limit: 32))
    }

    @Test("The age is measured from the last upload request, and must exceed the limit")
    func age() throws {
        let rules = try rules("sift-default")
        #expect(!rules.readiness(pendingCount: 1, clockTime: Self.now - 60_000, now: Self.now).isReady)
        #expect(rules.readiness(pendingCount: 1, clockTime: Self.now - 60_001, now: Self.now) == .tooOld(seconds: 60))
    }

    @Test("A new installation is ready with its first event")
    func newInstallation() throws {
        #expect(try rules("sift-default").readiness(pendingCount: 1, clockTime: 0, now: Self.now).isReady)
        #expect(
            try rules("sift-devprops").readiness(pendingCount: 1, clockTime: Self.now, now: Self.now)
                == .tooMany(limit: 0))
    }

    @Test("An empty queue is never ready")
    func empty() throws {
        for queue in ["sift-default", "sift-devprops"] {
            for era in [SiftQueueRules.Era.first, .second, .third, .current] {
                #expect(try rules(queue, era).readiness(pendingCount: 0, clockTime: 0, now: Self.now) == .empty)
            }
        }
    }

    @Test("Extreme times do not overflow", arguments: [Int64.min, .max, .max - 1, -1])
    func extremeTimes(clockTime: Int64) throws {
        let rules = try rules("sift-default")
        for now in [Int64.min, 0, .max] {
            let readiness = rules.readiness(pendingCount: 1, clockTime: clockTime, now: now)
            if clockTime > 0 { #expect(!readiness.isReady) }
            #expect(rules.equalEventAcceptanceTime(afterEventAt: clockTime, clockTime: clockTime) == nil)
        }
        #expect(try self.rules("sift-devprops").equalEventAcceptanceTime(afterEventAt: .max, clockTime: 0) == .max)
    }

    @Test("An equal event is discarded for an hour after the time of the last event")
    func duplicates() throws {
        let rules = try rules("sift-devprops")
        #expect(rules.equalEventAcceptanceTime(afterEventAt: Self.now, clockTime: 5) == Self.now + 3_600_000)
        #expect(try self.rules("sift-default").equalEventAcceptanceTime(afterEventAt: Self.now, clockTime: 5) == nil)
    }

    @Test("Before version 0.9.7, the hour starts when the last event was added")
    func oldDuplicates() throws {
        #expect(
            try rules("sift-devprops", .first).equalEventAcceptanceTime(afterEventAt: 5, clockTime: Self.now) == Self
                .now + 600_000)
        #expect(
            try rules("sift-default", .first).equalEventAcceptanceTime(afterEventAt: 5, clockTime: Self.now) == nil)
    }

    @Test("The state of a queue is described in words")
    func sentences() {
        func sentence(_ queue: String, _ pending: Int, clockTime: Int64, era: SiftQueueRules.Era = .current) -> String {
            SiftQueue(
                identifier: queue, pendingCount: pending, era: era, clockTime: clockTime, lastEventTime: nil,
                repetitionCount: nil
            )
            .sentence(at: Self.now)
        }
        #expect(sentence("orders", 0, clockTime: 0) == "nothing pending")
        #expect(sentence("orders", 1, clockTime: 0) == "1 event pending; the app decides when they are uploaded")
        #expect(sentence("sift-devprops", 1, clockTime: 0) == "ready for upload: 1 event pending, more than 0")
        #expect(
            sentence("sift-default", 4, clockTime: 0)
                == "ready for upload: 4 events pending, more than 60 s after the last upload request (never)")
        #expect(
            sentence("sift-default", 4, clockTime: Self.now - 61_000, era: .second)
                == "ready for upload: 4 events pending, more than 60 s after the last event was added "
                + "(2025-09-23T03:58:59.000Z)")
        #expect(
            sentence("sift-default", 4, clockTime: Self.now)
                == "not ready: 4 events pending; ready with more than 32 or from 2025-09-23T04:01:00.001Z on")
    }

    @Test("The state of a queue has a code")
    func states() {
        func state(_ queue: String, _ pending: Int, clockTime: Int64, era: SiftQueueRules.Era = .current) -> String {
            let queue = SiftQueue(
                identifier: queue, pendingCount: pending, era: era, clockTime: clockTime, lastEventTime: nil,
                repetitionCount: nil)
            let state = queue.state(at: Self.now)
            return "\(state.readiness.rawValue) \(state.code)"
        }
        #expect(state("orders", 0, clockTime: 0) == "empty empty")
        #expect(state("orders", 1, clockTime: 0) == "unknown rule-of-app")
        #expect(state("sift-devprops", 1, clockTime: 0) == "ready too-many")
        #expect(state("sift-default", 33, clockTime: Self.now) == "ready too-many")
        #expect(state("sift-default", 4, clockTime: 0) == "ready too-old")
        #expect(state("sift-default", 4, clockTime: Self.now - 60_000) == "not-ready too-few")
        #expect(state("sift-default", 4, clockTime: Self.now - 60_001, era: .second) == "ready too-old")
        #expect(state("sift-default", 4, clockTime: .max) == "not-ready never-by-itself")
    }
}
