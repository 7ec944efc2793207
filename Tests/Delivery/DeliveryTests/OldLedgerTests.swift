import Foundation
import Leanplum
import Mozilla
import SQLite
import Sift
import Systems
import Telemetry
import TestSupport
import Testing

@testable import Delivery

/// Tests that ledgers of earlier releases are read completely.
@Suite struct OldLedgerTests {
    private let folder: TemporaryFolder
    private let path: String
    /// A time five minutes after the last job of the ledger began.
    private let now = Sample.time(10)

    init() throws {
        folder = try TemporaryFolder(inMemory: true)
        path = folder("ledger.sqlite")
        let sql = try String(contentsOfFile: "\(repository)/Tests/Fixtures/ledger-1.sql", encoding: .utf8)
        let file = try DatabaseFile(path: path, .writing)
        try file.withoutTransaction { try $0.run(script: sql) }
        file.close()
    }

    /// Records in every state, and some that are not in the ledger.
    private let records: [(record: Record, disposition: Disposition)] = [
        (Sample.ping("delivered"), .delivered),
        (Sample.ping("delivered", seq: 2), .sameIDSentRecently),
        (Sample.ping("refused", type: "focus-event"), .refused),
        (Sample.ping("refused"), .dailyLimit),
        (Sample.ping("in-flight", client: nil), .send),
        (Sample.ping("in-flight", client: nil, seq: 2), .sameIDSentRecently),
        (Sample.ping("uncertain", client: "D"), .send),
        (Sample.ping("new", client: "D", minute: 1), .send),
        (Sample.ping("held", client: "D", minute: 2, held: [.tooFewEvents]), .dailyLimit),
        (Sample.ping("not-released", client: "D", held: [.tooFewEvents]), .held),
        (Sample.sift([#"{"time":1}"#, #"{"time":2}"#]), .delivered),
        (Sample.sift([#"{"time":2}"#]), .settle),
        (Sample.sift([#"{"time":2}"#, #"{"time":3}"#]), .send),
        (Sample.leanplum([#"{"action":"track","reqId":"R1","retryCount":0}"#]), .delivered),
        (Sample.leanplum([#"{"action":"track","reqId":"R1","retryCount":1}"#]), .settle),
        (Sample.leanplum([#"{"action":"track","reqId":"R2","retryCount":0}"#]), .dailyLimit),
    ]

    private func plan(_ view: LedgerView, at now: Timestamp) throws -> Plan {
        let pool = Sample.pool(records.map(\.record), isReleased: try view.releaseCheck())
        let rules = PlanRules(limits: UploadLimits(daily: 2, perType: nil))
        let state = try view.state(of: pool, today: rules.days.day(of: now))
        return Planner.plan(pool, state, rules: rules, now: now)
    }

    private func check(_ view: LedgerView) throws {
        #expect(try plan(view, at: now).dispositions == records.map(\.disposition))
        // The next day has a separate quota, which was partly used by a clock that was one day ahead.
        let tomorrow = try plan(view, at: Sample.time(24 * 60))
        #expect(tomorrow.count(.dailyLimit) == 1)
        #expect(tomorrow.count(.send) == 7)
    }

    private func checkOverview() throws {
        let overview = try LedgerView(path: path).overview(today: DayRule.utc.day(of: now))
        func counts(_ client: ClientName, _ type: String) -> LedgerOverview.Counts? {
            overview.counts[
                LedgerOverview.RecordGroup(client: client, type: TypeName(system: client.system, name: type))]
        }
        func expected(
            delivered: Int = 0, refused: Int = 0, inFlight: Int = 0, waiting: [WaitReason: Int] = [:]
        ) -> LedgerOverview.Counts {
            var counts = LedgerOverview.Counts()
            (counts.deliveredCount, counts.refusedCount, counts.inFlightCount) = (delivered, refused, inFlight)
            counts.waitingCounts = waiting
            return counts
        }
        let (first, nobody, other) = (
            ClientName(system: .mozilla, client: "C"), ClientName(system: .mozilla, client: nil),
            ClientName(system: .mozilla, client: "D")
        )
        let (sift, leanplum) = (
            ClientName(system: .sift, client: "I"), ClientName(system: .leanplum, client: "D")
        )
        #expect(overview.counts.count == 6)
        #expect(counts(first, "core") == expected(delivered: 1, waiting: [WaitReason(code: "daily-limit"): 7]))
        #expect(counts(first, "focus-event") == expected(refused: 1))
        #expect(
            counts(nobody, "core")
                == expected(
                    inFlight: 1, waiting: [WaitReason(code: "held", detail: "too-few-events"): 1, .notSent: 1]))
        #expect(counts(other, "core") == expected(inFlight: 1))
        #expect(counts(sift, "mobile_events") == expected(delivered: 1))
        #expect(counts(leanplum, "multi") == expected(delivered: 1))
        #expect(overview.uploadsToday == [first: 2, nobody: 1, sift: 1, leanplum: 3])
        #expect(overview.lastJobTime == Sample.time(5))
        #expect(overview.remarks.map(\.isRefusal) == [true, false])
        #expect(overview.remarks.map(\.status) == [413, 200])
        #expect(
            overview.remarks.map(\.text) == [
                "the body is too large: 10 MB", "1 of the events not successful: no such user",
            ])
        #expect(overview.remarks.map(\.time) == [Sample.time(1), Sample.time(3)])
    }

    @Test("All entries of the first release are read, for reading and for a job")
    func firstVersion() throws {
        try check(try LedgerView(path: path))
        try checkOverview()
        try check(try Ledger(path: path, now: now).view)
        // The overview is the same after the job migrated the file.
        try checkOverview()
    }

    @Test("A job continues with the entries of the first release")
    func continuedJob() async throws {
        do {
            let ledger = try Ledger(path: path, now: now)
            let plan = try plan(ledger.view, at: now)
            try ledger.begin(plan)
            for send in plan.sends {
                #expect(try await ledger.mark([send], at: now) == [.marked])
                let delivered = Settlement(send, recordID: "", outcome: .delivered(status: 200))
                try await ledger.settle([delivered], at: now)
            }
            #expect(try ledger.retry(.ids(["refused"])) == ["refused": 1])
        }
        let after = try plan(try LedgerView(path: path), at: now)
        for (before, disposition) in zip(records, after.dispositions) where before.disposition == .send {
            #expect(disposition == .delivered)
        }
        let overview = try LedgerView(path: path).overview(today: DayRule.utc.day(of: now))
        #expect(overview.uploadsToday[ClientName(system: .mozilla, client: nil)] == 1)
        #expect(overview.uploadsToday[ClientName(system: .mozilla, client: "D")] == 2)
        #expect(overview.counts.values.allSatisfy { $0.refusedCount == 0 && $0.inFlightCount == 0 })
    }

    @Test("Outcomes, statuses and times of receipts are read without a migration")
    func outcomes() throws {
        let view = try LedgerView(path: path)
        let pool = Sample.pool(records.map(\.record), isReleased: try view.releaseCheck())
        let outcomes = try view.recordOutcomes(of: pool, today: DayRule.utc.day(of: now))
        let settled = outcomes.filter { $0.answer != nil }
        #expect(settled.map(\.group.name) == [.delivered, .refused, .delivered, .delivered])
        #expect(settled.map(\.group.httpStatus) == [200, 413, nil, 200])
        #expect(settled.allSatisfy { $0.answer?.time != nil })
    }

    @Test(
        "A ledger of a version without the tables of later versions is read and migrated",
        arguments: [["failures"], ["failures", "withdrawals"], ["failures", "withdrawals", "ended_clients"]])
    func laterTables(missing: [String]) throws {
        _ = try Ledger(path: path, now: now)
        let file = try DatabaseFile(path: path, .writing)
        for table in missing { try file.write { try $0.run(script: "DROP TABLE \(table)") } }
        // The last migration has also added these columns.
        for (table, column) in [("waits", "time"), ("jobs", "number"), ("jobs", "ended"), ("jobs", "result")] {
            try file.write { try $0.run(script: "ALTER TABLE \(table) DROP COLUMN \(column)") }
        }
        try file.write {
            try $0.run(script: "DELETE FROM grdb_migrations WHERE CAST(identifier AS INTEGER) > \(8 - missing.count)")
        }
        file.close()
        try check(try LedgerView(path: path))
        try checkOverview()
        try check(try Ledger(path: path, now: now).view)
        try checkOverview()
        for table in missing { #expect(try LedgerView(path: path).read { try $0.hasTable(table) }) }
    }

    @Test("A ledger of a newer version is rejected and left unchanged")
    func newerVersion() throws {
        let file = try DatabaseFile(path: path, .writing)
        try file.write { try $0.run(script: "INSERT INTO grdb_migrations VALUES ('99'), ('100')") }
        file.close()
        let before = try folder.data("ledger.sqlite")
        for attempt in [{ _ = try Ledger(path: path, now: now) }, { _ = try LedgerView(path: path) }]
            as [() throws -> Void]
        {
            let error = #expect(throws: LedgerError.self) { try attempt() }
            #expect(error?.caseName == "newerVersion")
            #expect(error?.description == "\(path): ledger format version 100 is not supported")
            #expect(error?.remedy == "use a newer version of this program")
            #expect(try folder.data("ledger.sqlite") == before)
        }
    }

    @Test("No entries are pruned before the ledger records when they were last seen")
    func pruning() throws {
        let later = Sample.time(1_000 * 24 * 60)
        let ledger = try Ledger(path: path, now: later)
        try ledger.begin(Planner.plan(Sample.pool([]), LedgerState(), rules: PlanRules(), now: later))
        #expect(try ledger.prune(unseenFor: 86_400_000, knowing: Systems.table, at: later) == 0)
    }
}
