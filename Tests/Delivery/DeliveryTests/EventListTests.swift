import Hashing
import Systems
import Telemetry
import TestSupport
import Testing

@testable import Delivery

/// Tests that each event of a list is sent only once.
@Suite struct EventListTests {
    private let now = Sample.time(60)

    private func event(_ number: Int) -> String { #"{"mobile_event_type":"e\#(number)","time":\#(number)}"# }

    private func keys(_ record: Record) -> [Digest16] {
        Sample.pool([record]).items.map(\.key)
    }

    private func plan(_ records: [Record], delivered: Set<Digest16> = [], rules: PlanRules = PlanRules()) -> Plan {
        let pool = Sample.pool(records)
        var state = LedgerState()
        state.deliveredItems = pool.items.map { delivered.contains($0.key) }
        return Planner.plan(pool, state, rules: rules, now: now)
    }

    @Test("An event has the same key in all requests of an account, and another key for another account")
    func eventKeys() {
        let first = keys(Sample.sift([event(1), event(2)]))
        #expect(keys(Sample.sift([event(2), event(3)])).first == first.last)
        #expect(keys(Sample.sift([event(1)], account: "other")).first != first.first)
        #expect(keys(Sample.leanplum([event(1)])).first != first.first)
    }

    @Test("Equal events in one request are all sent")
    func equalEvents() {
        let record = Sample.sift([event(1), event(1), event(1)])
        #expect(Set(keys(record)).count == 3)
        #expect(keys(Sample.sift([event(1), event(1)])) == Array(keys(record).prefix(2)))
        let plan = plan([record], delivered: Set(keys(Sample.sift([event(1), event(1)]))))
        #expect(plan.sends.map { $0.items.map(\.index) } == [[2]])
    }

    @Test("Leanplum requests are identified by reqId, or otherwise by all members except the number of attempts")
    func leanplumKeys() {
        let ids = keys(Sample.leanplum([#"{"a":1,"reqId":"R"}"#]))
        #expect(keys(Sample.leanplum([#"{"a":2,"reqId":"R"}"#])) == ids)
        #expect(keys(Sample.leanplum([#"{"a":1,"reqId":"R"}"#], client: "other")) != ids)
        let plain = keys(Sample.leanplum([#"{"a":1,"b":"x"}"#]))
        #expect(keys(Sample.leanplum([#"{"a":1,"b":"x","retryCount":3}"#])) == plain)
        #expect(keys(Sample.leanplum([#"{"a":1,"b":"y"}"#])) != plain)
        #expect(keys(Sample.leanplum(["1", "[2]"])).count == 2)
    }

    @Test("A request without remaining events is settled without being sent")
    func nothingLeft() {
        let record = Sample.sift([event(1), event(2)])
        let plan = plan([record, Sample.sift([])], delivered: Set(keys(record)))
        #expect(plan.dispositions == [.settle, .settle])
        #expect(plan.settlements.map(\.key).contains(RecordKey(record)))
        #expect(plan.uploadCount == 0)
    }

    @Test("An event is omitted if an earlier request of the job contains it")
    func overlapInJob() {
        let records = [
            Sample.sift([event(1), event(2), event(3)], minute: 2), Sample.sift([event(1), event(2)], minute: 1),
            Sample.sift([event(2)], minute: 3),
        ]
        let plan = plan(records)
        #expect(plan.dispositions == [.send, .send, .overlapping])
        #expect(plan.sends.map { $0.items.map(\.index) } == [[0, 1], [2]])
        #expect(plan.sends.map(\.isWhole) == [true, false])
    }

    @Test("Large lists are split by size, and the last part completes the record")
    func splitByBytes() throws {
        let record = Sample.sift((0..<10).map(event))
        let size = try #require(plan([record]).sends.first).items.count
        #expect(size == 10)
        let rules = PlanRules(maximumListBytes: 120)
        let plan = plan([record], rules: rules)
        #expect(plan.dispositions == [.send])
        #expect(plan.sends.flatMap { $0.items.map(\.index) } == Array(0..<10))
        #expect(plan.sends.count > 2)
        #expect(plan.sends.map(\.completesRecord) == Array(repeating: false, count: plan.sends.count - 1) + [true])
        #expect(Set(plan.sends.map(\.key)).count == plan.sends.count)
        let sizes = Sample.pool([record]).items
        for send in plan.sends {
            let bytes = send.items.reduce(11) { $0 + Int(sizes[$1.index].size) + 1 }
            #expect(bytes <= 121)
        }
    }

    @Test("Leanplum lists are split by number of events, and a too large event is sent alone")
    func splitByCount() {
        let record = Sample.leanplum((0..<7).map { #"{"n":\#($0)}"# })
        let plan = plan([record], rules: PlanRules(maximumListItems: 3))
        #expect(plan.sends.map { $0.items.count } == [3, 3, 1])
        let tiny = self.plan([record], rules: PlanRules(maximumListBytes: 1))
        #expect(tiny.sends.map { $0.items.count } == Array(repeating: 1, count: 7))
    }

    @Test("Each part counts as an upload, and parts beyond the limits wait")
    func sentInPart() {
        let record = Sample.leanplum((0..<7).map { #"{"n":\#($0)}"# })
        for limits in [UploadLimits(daily: 2), UploadLimits(daily: nil, perType: 2)] {
            let plan = plan([record], rules: PlanRules(limits: limits, maximumListItems: 2))
            #expect(plan.sends.map { $0.items.map(\.index) } == [[0, 1], [2, 3]])
            #expect(plan.sends.map(\.completesRecord) == [false, false])
            #expect(plan.dispositions == [.sendPart])
            #expect(plan.reasonCounts == [WaitReason(code: "sent-in-part"): 1])
            #expect(plan.groupCounts.values.reduce(0, +) == 1)
        }
    }

    @Test("A list waits with the reason of the limit if no part of it may be sent")
    func noPartSent() {
        let record = Sample.leanplum((0..<7).map { #"{"n":\#($0)}"# })
        let plan = plan([record], rules: PlanRules(limits: UploadLimits(daily: 0), maximumListItems: 2))
        #expect(plan.dispositions == [.dailyLimit])
        #expect(plan.uploadCount == 0)
    }

    @Test("The next job sends the remaining parts of a list and completes the record")
    func remainingParts() {
        let record = Sample.leanplum((0..<7).map { #"{"n":\#($0)}"# })
        let rules = PlanRules(limits: UploadLimits(daily: 2), maximumListItems: 2)
        let delivered = Set(plan([record], rules: rules).sends.flatMap { $0.items.map(\.key) })
        let rest = plan([record], delivered: delivered, rules: rules)
        #expect(rest.dispositions == [.send])
        #expect(rest.sends.map { $0.items.map(\.index) } == [[4, 5], [6]])
        #expect(rest.sends.map(\.completesRecord) == [false, true])
    }

    @Test("The limits apply separately to the lists of two clients")
    func listsOfTwoClients() {
        let records = [("D", 0), ("E", 4)].map { client, first in
            Sample.leanplum((first..<first + 4).map { #"{"n":\#($0)}"# }, client: client)
        }
        let plan = plan(records, rules: PlanRules(limits: UploadLimits(daily: 1), maximumListItems: 2))
        #expect(plan.dispositions == [.sendPart, .sendPart])
        #expect(plan.sends.map { $0.items.map(\.index) } == [[0, 1], [0, 1]])
    }

    @Test("A request in another form is sent unchanged")
    func otherForm() {
        var record = Sample.sift([event(1)])
        for payload in [#"{"data":{}}"#, #"{"data":[],"x":1}"#, "{}"] {
            record.payload = Array(payload.utf8)
            #expect(plan([record]).sends.map(\.isWhole) == [true])
        }
    }
}
