import Telemetry
import TestSupport
import Testing

@testable import Delivery

/// Tests types of records that are sent first, and requests for deletion, after which nothing else is sent.
@Suite struct PrecedenceTests {
    private let now = Sample.time(60 * 24)

    private func record(
        _ id: String, _ type: String = "hello", client: String? = "C", minute: Int? = 0, held: [Hold] = []
    ) -> Record {
        Record(
            system: .probe, type: type, id: id, client: client, time: minute.map(Sample.time),
            target: Target(path: "/submit/\(type)/\(id)"), payload: Array("{}".utf8), source: Sample.source, held: held)
    }

    private func pool(
        _ records: [Record], isReleased: @escaping @Sendable (String, String) -> Bool = { _, _ in false }
    ) -> CandidatePool {
        Sample.pool(records, knowing: ProbeSystem.table, isReleased: isReleased)
    }

    private func plan(
        _ records: [Record], _ limits: UploadLimits = UploadLimits(), _ change: (inout LedgerState) -> Void = { _ in }
    ) -> Plan {
        var state = LedgerState()
        state.histories = records.map { _ in RecordHistory() }
        change(&state)
        return Planner.plan(pool(records), state, rules: PlanRules(limits: limits), now: now)
    }

    private func ids(_ plan: Plan, _ records: [Record]) -> [String] {
        plan.sends.map { records[Int($0.record.location.segmentIndex)].id }
    }

    @Test("Records with precedence are sent first, in order of time")
    func order() {
        let records = [
            record("A", minute: 1), record("B", "goodbye", minute: nil), record("C", "goodbye", minute: 9),
            record("D", client: nil), record("E", "goodbye", client: nil, minute: 9),
        ]
        #expect(ids(plan(records), records) == ["C", "B", "A", "E", "D"])
    }

    @Test(
        "Records with precedence count against the quota and are not displaced", arguments: UploadLimits.Scope.allCases)
    func quota(scope: UploadLimits.Scope) {
        let records = [record("A"), record("B", client: "D"), record("C", "goodbye", client: "D", minute: 9)]
        let plan = plan(records, UploadLimits(daily: 1, perType: nil, scope: scope))
        #expect(Set(ids(plan, records)) == (scope == .client ? ["A", "C"] : ["C"]))
        #expect(plan.count(.dailyLimit) == (scope == .client ? 1 : 2))
    }

    @Test("A request for deletion in any bundle excludes the other records of its client")
    func deletionRequest() {
        let records = [
            record("A"), record("B", client: "c", held: [.noTarget]), record("C", "goodbye"), record("D", client: "D"),
            record("E", "deletion", minute: 9), record("F", client: nil), record("G", "deletion", minute: 3),
        ]
        let plan = plan(records)
        #expect(ids(plan, records) == ["C", "G", "E", "D", "F"])
        let ended: [Disposition] = [.deletionRequested, .deletionRequested]
        #expect(Array(plan.dispositions[...1]) == ended)
        #expect(plan.reasonCounts == [WaitReason(code: "deletion-requested"): 2])
        #expect(!Disposition.deletionRequested.isDeferred && !Disposition.deletionRequested.isWaiting)
    }

    @Test("A request for deletion that is held or was delivered before has the same effect")
    func unsentDeletionRequest() {
        let held = [record("A"), record("B", "deletion", held: [Hold("incomplete")])]
        #expect(plan(held).dispositions == [.deletionRequested, .held])
        let delivered = [record("A"), record("B", "deletion")]
        #expect(
            plan(delivered) { $0.histories[1] = RecordHistory(outcome: .delivered) }.dispositions == [
                .deletionRequested, .delivered,
            ])
    }

    @Test("A request for deletion without a client id excludes no records")
    func withoutClient() {
        let records = [record("A", client: nil), record("B", "deletion", client: nil)]
        #expect(ids(plan(records), records) == ["B", "A"])
    }

    @Test("The same type in another system excludes no records")
    func otherSystem() {
        let records = [Sample.ping("A"), Sample.ping("B", type: "deletion", minute: 9)]
        let plan = Planner.plan(Sample.pool(records), LedgerState(), rules: PlanRules(), now: now)
        #expect(ids(plan, records) == ["A", "B"])
    }

    @Test("The ledger remembers requests for deletion, settled or in flight", arguments: [true, false])
    func deletionRequestInLedger(isSettled: Bool) async throws {
        let folder = try TemporaryFolder(inMemory: true)
        let ledger = try Ledger(path: folder("ledger"), now: now)
        func plan(_ records: [Record]) throws -> Plan {
            let pool = pool(records)
            let state = try ledger.view.state(of: pool, today: 1)
            return Planner.plan(pool, state, rules: PlanRules(), now: now)
        }
        let later = [record("A", client: "c"), record("X", client: "other")]
        #expect(try ids(plan(later), later) == ["A", "X"])
        let first = try plan([record("B", "deletion"), record("N", "deletion", client: nil)])
        try ledger.begin(first)
        _ = try await ledger.mark(first.sends, at: now)
        if isSettled {
            let settlements = first.sends.map {
                Settlement(send: $0, recordID: "B", outcome: .refused(status: 400, reason: "no"))
            }
            try await ledger.settle(settlements, at: now)
        }
        #expect(try plan(later).dispositions == [.deletionRequested, .send])
        let others = [record("D", client: nil)]
        #expect(try plan(others).dispositions == [.send])
    }

    @Test("A hold code that is final cannot be released")
    func finalHolds() {
        #expect(!HoldCodes.isReleasable("promise", knowing: ProbeSystem.table))
        #expect(!HoldCodes.isReleasable("no-such-code", knowing: ProbeSystem.table))
        #expect(HoldCodes.isReleasable("schema", knowing: ProbeSystem.table))
        let records = [record("A", held: [Hold("promise", "kept")]), record("B", held: [.schema([])])]
        let pool = pool(records) { _, _ in true }
        let plan = Planner.plan(pool, LedgerState(), rules: PlanRules(), now: now)
        #expect(plan.dispositions == [.held, .send])
    }
}
