import Mozilla
import Telemetry
import TestSupport
import Testing

@testable import Delivery

/// Tests which records are sent, which wait, and why.
@Suite struct PlannerTests {
    private let now = Sample.time(60 * 24)

    private func plan(
        _ records: [Record], limits: UploadLimits = UploadLimits(), maximumAge: Int64? = nil,
        accounts: Set<String>? = nil, _ change: (inout LedgerState, CandidatePool) -> Void = { _, _ in }
    ) -> Plan {
        let pool = Sample.pool(records)
        var state = LedgerState()
        state.histories = records.map { _ in RecordHistory() }
        change(&state, pool)
        return Planner.plan(
            pool, state, rules: PlanRules(limits: limits, maximumAge: maximumAge), now: now,
            hasCredential: { accounts?.contains($0.name) ?? true })
    }

    private func segments(_ plan: Plan) -> [Int] { plan.sends.map { Int($0.record.location.segmentIndex) } }

    @Test("The records of a client are sent in order of time, and records of unknown time last")
    func order() {
        let records = [
            Sample.ping("A", minute: nil), Sample.ping("B", minute: 9), Sample.ping("C", minute: 3),
            Sample.ping("D", minute: 9), Sample.ping("E", minute: nil),
        ]
        #expect(segments(plan(records)) == [2, 1, 3, 0, 4])
    }

    @Test("Clients are distinguished by system, and letter case is ignored")
    func clients() {
        let records = [
            Sample.ping("A", client: "C"), Sample.ping("B", client: "c"), Sample.ping("C", client: nil),
            Sample.ping("D", client: nil), Sample.sift([#"{"time":1}"#], client: "C"),
        ]
        #expect(plan(records).queues.map(\.sends.count) == [2, 2, 1])
    }

    @Test("The daily limit allows the oldest records first")
    func dailyLimit() {
        let records = (0..<7).map { Sample.ping("\($0)", minute: 10 - $0) }
        let plan = plan(records, limits: UploadLimits(daily: 3, perType: nil))
        #expect(segments(plan) == [6, 5, 4])
        #expect(plan.count(.dailyLimit) == 4)
    }

    @Test("The quota of the day is shared with earlier jobs")
    func sharedQuota() {
        let records = (0..<5).map { Sample.ping("\($0)") } + [Sample.ping("other", client: "D")]
        let plan = plan(records, limits: UploadLimits(daily: 4, perType: nil)) { state, _ in
            state.usedQuotas = [
                ClientName(system: .mozilla, client: "C"): 3, ClientName(system: .mozilla, client: "X"): 9,
            ]
        }
        #expect(segments(plan) == [0, 5])
    }

    @Test("The limit per type counts each type separately and only within a job")
    func perTypeLimit() {
        let records = (0..<9).map { Sample.ping("\($0)", type: $0 < 6 ? "core" : "focus-event", minute: $0) }
        let plan = plan(records, limits: UploadLimits(daily: nil, perType: 2)) { state, _ in
            state.usedQuotas = [ClientName(system: .mozilla, client: "C"): 99]
        }
        #expect(segments(plan) == [0, 1, 6, 7])
        #expect(plan.count(.typeLimit) == 5)
    }

    @Test("The documented limits are the defaults")
    func documentedLimits() {
        let types = ["core", "focus-event", "mobile-event", "other"]
        let records = (0..<200).map { Sample.ping("\($0)", type: types[$0 % 4], minute: $0) }
        let plan = plan(records)
        #expect(plan.uploadCount == 100)
        let more = self.plan((0..<200).map { (number: Int) in Sample.ping("\(number)", minute: number) })
        #expect(more.uploadCount == 40)
    }

    @Test("Limits with the scope of a job count all clients together")
    func jobScope() {
        let records = (0..<6).map { Sample.ping("\($0)", client: "C\($0 % 3)", minute: 6 - $0) }
        let plan = plan(records, limits: UploadLimits(daily: 4, perType: nil, scope: .job)) { state, _ in
            state.usedQuotas = [ClientName(system: .mozilla, client: "another"): 2]
        }
        #expect(Set(segments(plan)) == [5, 4])
        let typed = self.plan(records, limits: UploadLimits(daily: nil, perType: 3, scope: .job))
        #expect(typed.uploadCount == 3)
    }

    @Test("An upload in flight counts toward the quota of its own day only")
    func inFlightUploads() {
        let records = [Sample.ping("A"), Sample.ping("B", minute: 1)]
        let today = DayRule.utc.day(of: now)
        for (day, expected) in [(today, [0]), (today + 1, []), (today - 1, [])] {
            let plan = plan(records, limits: UploadLimits(daily: 1, perType: nil)) { state, pool in
                state.usedQuotas = [ClientName(system: .mozilla, client: "c"): 1]
                state.inFlight = [
                    pool.candidates[0].key: InFlightUpload(
                        client: ClientName(system: .mozilla, client: "c"), day: day, time: now)
                ]
            }
            #expect(segments(plan) == expected)
        }
    }

    @Test("A held record is not sent")
    func held() {
        let records = [
            Sample.ping("A", held: [.schema(["x"]), .tooFewEvents]), Sample.ping("B", held: [.pendingEvents]),
            Sample.ping("C"),
        ]
        let plan = plan(records)
        #expect(plan.dispositions == [.held, .held, .send])
        #expect(
            Set(plan.groupCounts.keys.map { plan.reason(of: $0).text }) == [
                "held: schema+too-few-events", "held: pending-events", "send",
            ])
    }

    @Test("A released record is sent unless its hold code is final")
    func released() {
        let records = [
            Sample.ping("A", held: [.schema(["x"])]), Sample.ping("B", held: [.schema(["x"]), .tooFewEvents]),
            Sample.ping("C", held: [.pendingEvents]), Sample.ping("D", held: [.schema(["x"])]),
            Sample.ping("E", held: [.unproven]), Sample.ping("F", held: [.noTarget]),
        ]
        let pool = Sample.pool(records) { id, code in id != "D" && code != "too-few-events" }
        let plan = Planner.plan(pool, LedgerState(), rules: PlanRules(), now: now)
        #expect(plan.dispositions == [.send, .held, .held, .held, .held, .held])
    }

    @Test("A ping whose path names another document or type is held")
    func foreignTarget() {
        var (document, type) = (Sample.ping("A"), Sample.ping("B"))
        document.target = Sample.ping("Z").target
        type.target = Target(path: "/submit/telemetry/B/other/Focus/8.1.3/release/4236?v=4")
        let plan = plan([document, type])
        #expect(plan.dispositions == [.held, .held])
        #expect(Set(plan.groupCounts.keys.map { plan.reason(of: $0).text }) == ["held: foreign-target"])
    }

    @Test("Delivered and refused records are not sent again, even if they are now held")
    func settled() {
        let records = [Sample.ping("A"), Sample.ping("B"), Sample.ping("C", held: [.tooFewEvents])]
        let plan = plan(records) { state, _ in
            state.histories = [.delivered, .refused, .delivered].map { RecordHistory(outcome: $0) }
        }
        #expect(plan.dispositions == [.delivered, .refused, .delivered])
    }

    @Test("Records older than the maximum age are not sent, and records of unknown time are")
    func age() {
        let records = [Sample.ping("A", minute: 0), Sample.ping("B", minute: 1), Sample.ping("C", minute: nil)]
        let plan = plan(records, maximumAge: (24 * 60 - 1) * 60_000)
        #expect(plan.dispositions == [.tooOld, .send, .send])
    }

    @Test("The same record in two bundles is sent once")
    func duplicates() {
        let records = [Sample.ping("A", minute: 1), Sample.ping("A", minute: 1), Sample.ping("A", minute: 0)]
        #expect(plan(records).dispositions == [.duplicate, .duplicate, .send])
    }

    @Test("If equal records are held and not held, one that is not held is sent")
    func heldDuplicate() {
        let records = [Sample.ping("A", held: [.noTarget]), Sample.ping("A", minute: 1)]
        #expect(plan(records).dispositions == [.duplicate, .send])
    }

    @Test("If a request log shows that a record was delivered, equal records are not sent")
    func deliveredDuplicate() {
        let records = [Sample.ping("A"), Sample.ping("A", minute: 1, held: [Hold("delivered", "200")])]
        #expect(plan(records).dispositions == [.duplicate, .held])
    }

    @Test("Two payloads with the same id are not sent in one job")
    func sameIDInJob() {
        let records = [Sample.ping("A", minute: 2, seq: 1), Sample.ping("A", minute: 1, seq: 2), Sample.ping("B")]
        #expect(plan(records).dispositions == [.sameIDSentRecently, .send, .send])
    }

    @Test("A held payload does not block another payload with the same id")
    func sameIDHeld() {
        let records = [Sample.ping("A", minute: 1, seq: 1, held: [.tooFewEvents]), Sample.ping("A", minute: 2, seq: 2)]
        #expect(plan(records).dispositions == [.held, .send])
    }

    @Test(
        "Another payload with the same id waits for 15 minutes",
        arguments: [(0, true), (14, true), (15, false), (-30, true)])
    func sameIDSentRecently(minutesAgo: Int, waits: Bool) {
        let sent = Timestamp(clamping: now.milliseconds - Int64(minutesAgo) * 60_000)
        let settled = plan([Sample.ping("A")]) { state, _ in
            state.histories = [RecordHistory(otherPayloadTime: sent)]
        }
        #expect(settled.dispositions == [waits ? .sameIDSentRecently : .send])
        let inFlight = plan([Sample.ping("A")]) { state, _ in
            state.inFlight = [
                RecordKey(Sample.ping("A", seq: 7)): InFlightUpload(
                    client: ClientName(system: .mozilla, client: "c"), day: 0, time: sent)
            ]
        }
        #expect(inFlight.dispositions == [waits ? .sameIDSentRecently : .send])
    }

    @Test("A clock that was years ahead does not block an id for years")
    func wrongClock() {
        let sent = Timestamp(clamping: now.milliseconds + 500_000_000_000)
        let plan = plan([Sample.ping("A")]) { state, _ in
            state.histories = [RecordHistory(otherPayloadTime: sent)]
        }
        #expect(plan.dispositions == [.send])
    }

    @Test("Only the records of an account without a credential wait, and the account is named")
    func credentials() {
        let records = [
            Sample.ping("A"), Sample.sift([#"{"time":1}"#], account: "acme"),
            Sample.sift([#"{"time":2}"#], account: "other"), Sample.leanplum([#"{"action":"track","devMode":true}"#]),
        ]
        let plan = plan(records, accounts: ["other"])
        #expect(plan.dispositions == [.send, .missingCredential, .send, .missingCredential])
        #expect(
            Set(plan.groupCounts.keys.map { plan.reason(of: $0).text }) == [
                "send", "missing credential: sift acme", "missing credential: leanplum (development)",
            ])
    }

    @Test("A record takes at most 150 bytes of memory, including its history")
    func memory() {
        #expect(
            MemoryLayout<Candidate>.stride + MemoryLayout<RecordHistory>.stride + MemoryLayout<Disposition>.stride
                <= 150)
    }

    @Test("Days follow the time zone, including changes of the clock")
    func days() throws {
        let berlin = try #require(SystemTimezone.dayRule(forZone: "Europe/Berlin"))
        func day(_ rule: DayRule, _ text: String) throws -> Int { rule.day(of: try #require(Timestamp(rfc3339: text))) }
        let first = try day(.utc, "2026-10-25T12:00:00Z")
        #expect(try day(berlin, "2026-10-24T21:59:59Z") == first - 1)
        #expect(try day(berlin, "2026-10-24T22:00:00Z") == first)
        // The clock is set back in this night, so that the day has 25 hours.
        #expect(try day(berlin, "2026-10-25T22:59:59Z") == first)
        #expect(try day(berlin, "2026-10-25T23:00:00Z") == first + 1)
        let honolulu = try #require(SystemTimezone.dayRule(forZone: "Pacific/Honolulu"))
        #expect(try day(honolulu, "1970-01-01T00:00:00Z") == -1)
        #expect(SystemTimezone.dayRule(forZone: "Nowhere/Land") == nil)
    }
}
