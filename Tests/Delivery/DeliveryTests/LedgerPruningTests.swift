import Foundation
import Systems
import Telemetry
import TestSupport
import Testing

@testable import Delivery

/// Tests that entries are removed from a ledger if no bundle in use needs them.
@Suite struct LedgerPruningTests {
    private let folder: TemporaryFolder
    private let day = 24 * 60

    init() throws { folder = try TemporaryFolder(inMemory: true) }

    /// Runs a job with the given records, and settles the records that it sends.
    ///
    /// - Returns: The disposition of each record.
    @discardableResult
    private func job(
        _ records: [Record], onDay number: Int, _ outcome: Outcome = .delivered(status: 200),
        knowing systems: SystemTable = Systems.table, endsClients: Bool = false
    ) async throws -> [Disposition] {
        let now = Sample.time(number * day)
        let ledger = try Ledger(path: folder("l"), now: now)
        let pool = Sample.pool(records, knowing: systems)
        let state = try ledger.view.state(of: pool, today: DayRule.utc.day(of: now))
        let plan = Planner.plan(pool, state, rules: PlanRules(), now: now)
        try ledger.begin(plan)
        for send in plan.sends {
            _ = try await ledger.mark([send], at: now)
            let settlement = Settlement(send: send, recordID: "", outcome: outcome, endsClient: endsClients)
            try await ledger.settle([settlement], at: now)
        }
        return plan.dispositions
    }

    private func prune(
        _ days: Int, onDay number: Int, knowing systems: SystemTable = Systems.table
    ) throws -> Int {
        let now = Sample.time(number * day)
        return try Ledger(path: folder("l"), now: now).prune(
            unseenFor: Int64(days) * 86_400_000, knowing: systems, at: now)
    }

    @Test("Records that no job has seen for some time are removed, and others are kept")
    func unseenRecords() async throws {
        let (used, unused) = (Sample.ping("A"), Sample.ping("B"))
        try await job([used, unused], onDay: 0, .delivered(status: 200, note: "odd"))
        try await job([used], onDay: 50)
        try await job([Sample.ping("C")], onDay: 100)
        #expect(try prune(101, onDay: 100) == 0)
        #expect(try prune(60, onDay: 100) == 1)
        #expect(try prune(60, onDay: 100) == 0)
        #expect(try await job([used, unused], onDay: 100) == [.delivered, .send])
    }

    @Test("The time is counted back from the last job, so that a pause of all jobs removes nothing")
    func pauseOfJobs() async throws {
        let record = Sample.ping("A")
        try await job([record], onDay: 0)
        #expect(try prune(60, onDay: 1000) == 0)
        #expect(try await job([record], onDay: 1000) == [.delivered])
        #expect(try prune(60, onDay: 1000) == 0)
    }

    @Test("Unresolved refusals are kept")
    func unresolvedRefusals() async throws {
        try await job([Sample.ping("A")], onDay: 0, .refused(status: 400, reason: "no"))
        try await job([Sample.ping("B")], onDay: 100)
        #expect(try prune(60, onDay: 100) == 0)
        #expect(try LedgerView(path: folder("l")).refusals().map(\.recordCount) == [1])
    }

    @Test("Delivered events of lists are not sent again")
    func deliveredEvents() async throws {
        let list = Sample.sift([#"{"time":1}"#])
        try await job([list], onDay: 0)
        try await job([Sample.ping("B")], onDay: 100)
        #expect(try prune(60, onDay: 100) == 1)
        #expect(try await job([list], onDay: 100) == [.settle])
    }

    private func record(_ id: String, _ type: String, client: String = "C") -> Record {
        Record(
            system: .probe, type: type, id: id, client: client, time: Sample.time(0),
            target: Target(path: "/submit/\(type)/\(id)"), payload: Array("{}".utf8), source: Sample.source)
    }

    @Test("Ended clients are kept, so that no other records of them are sent")
    func endedClients() async throws {
        let table = ProbeSystem.table
        let ended = record("A", "hello")
        try await job([ended], onDay: 0, knowing: table, endsClients: true)
        try await job([record("X", "hello", client: "D")], onDay: 100, knowing: table)
        #expect(try prune(60, onDay: 100, knowing: table) == 1)
        let records = [ended, record("B", "hello"), record("E", "goodbye"), record("Y", "hello", client: "D")]
        #expect(
            try await job(records, onDay: 100, knowing: table) == [
                .deletionRequested, .deletionRequested, .send, .send,
            ])
    }

    @Test("Requests for deletion are kept, so that no other records of their clients are sent")
    func deletionRequests() async throws {
        let table = ProbeSystem.table
        let type = try #require(table.precedence(of: .probe).deletionRequests.first).string
        try await job([record("A", type)], onDay: 0, knowing: table)
        try await job([record("B", "hello")], onDay: 100, knowing: table)
        #expect(try prune(60, onDay: 100, knowing: table) == 0)
        #expect(try await job([record("B", "hello")], onDay: 100, knowing: table) == [.deletionRequested])
    }
}
