import Foundation
import Telemetry
import TestSupport
import Testing

@testable import Delivery

/// Tests a ledger on a full or read-only disk.
///
/// The tests mount a file system, which requires root.
@Suite(.enabled(if: SmallDisk.isPossible, "only root can mount")) struct LedgerFaultTests {
    private let now = Sample.time(0)

    @Test("a full disk is reported, loses nothing that was settled, and is no trouble once there is room")
    func fullDisk() async throws {
        let disk = try SmallDisk(kibibytes: 400)
        let records = (0..<4000).map { (number: Int) in
            Sample.ping("\(number)", client: "client-\(number % 50)", minute: number)
        }
        let pool = Sample.pool(records)
        let rules = PlanRules(limits: UploadLimits(daily: nil, perType: nil))
        var settled = 0
        do {
            let ledger = try Ledger(path: disk("l"), now: now)
            let plan = Planner.plan(pool, LedgerState(), rules: rules, now: now)
            try ledger.begin(plan)
            let error = await #expect(throws: LedgerError.self) {
                for send in plan.sends {
                    _ = try await ledger.mark([send], at: now)
                    try await ledger.settle([Settlement(send, recordID: "", outcome: .delivered(status: 200))], at: now)
                    settled += 1
                }
            }
            #expect(error?.kind == "full")
            #expect(settled > 0)
        }
        try disk.enlarge(kibibytes: 8000)
        let ledger = try Ledger(path: disk("l"), now: now)
        let state = try ledger.view.state(of: pool, today: rules.days.day(of: now))
        let plan = Planner.plan(pool, state, rules: rules, now: now)
        #expect(plan.count(.delivered) == settled)
        #expect(plan.count(.send) == records.count - settled)
        try ledger.begin(plan)
        #expect(try await ledger.mark(Array(plan.sends.prefix(10)), at: now).allSatisfy { $0 == .marked })
    }

    @Test("a disk too small for a new ledger is reported, and the ledger is made once there is room", arguments: 1...24)
    func fullWhileMade(number: Int) async throws {
        let disk = try SmallDisk(kibibytes: number * 8)
        let pool = Sample.pool([Sample.ping("A")])
        let plan = Planner.plan(pool, LedgerState(), rules: PlanRules(), now: now)
        for _ in 0..<2 {
            do {
                let ledger = try Ledger(path: disk("l"), now: now)
                try ledger.begin(plan)
            } catch let error as LedgerError {
                #expect(["full", "file \(ENOSPC)"].contains(error.kind))
            }
        }
        try disk.enlarge(kibibytes: 8000)
        let ledger = try Ledger(path: disk("l"), now: now)
        try ledger.begin(plan)
        #expect(try await ledger.mark(plan.sends, at: now) == [.marked])
    }

    @Test("a ledger on a read-only disk can be looked at, and refuses a job")
    func readOnlyDisk() async throws {
        let disk = try SmallDisk(kibibytes: 2000)
        do {
            let ledger = try Ledger(path: disk("l"), now: now)
            let plan = Planner.plan(Sample.pool([Sample.ping("A")]), LedgerState(), rules: PlanRules(), now: now)
            try ledger.begin(plan)
            _ = try await ledger.mark(plan.sends, at: now)
        }
        try disk.makeReadOnly()
        let error = #expect(throws: LedgerError.self) { try Ledger(path: disk("l"), now: now) }
        #expect(error?.kind == "file \(EROFS)")
        let overview = try LedgerView(path: disk("l")).overview(today: DayRule.utc.day(of: now))
        #expect(overview.counts.values.map(\.inFlight) == [1])
    }
}
