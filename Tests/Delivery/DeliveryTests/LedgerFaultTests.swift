import Foundation
import Telemetry
import TestSupport
import Testing

@testable import Delivery

/// Tests a ledger on a full or read-only disk.
///
/// The tests mount a file system, which requires root.
@Suite(.enabled(if: SmallDisk.isSupported, "only root can mount")) struct LedgerFaultTests {
    private let now = Sample.time(0)

    @Test("A full disk is reported, loses no settlement, and does not prevent later jobs")
    func fullDisk() async throws {
        let disk = try SmallDisk(kibibytes: 900)
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
                    try await ledger.settle(
                        [Settlement(send: send, recordID: "", outcome: .delivered(status: 200))], at: now)
                    settled += 1
                }
            }
            #expect(error?.caseName == "full")
            #expect(settled > 0)
        }
        try disk.enlarge(kibibytes: 8000)
        let ledger = try Ledger(path: disk("l"), now: now)
        let state = try ledger.view.state(of: pool, today: rules.days.day(of: now))
        let plan = Planner.plan(pool, state, rules: rules, now: now)
        #expect(plan.count(.delivered) == settled)
        #expect(plan.count(.send) == records.count - settled)
        try ledger.begin(plan)
        #expect(try await ledger.mark(Array(plan.sends.prefix(10)), at: now).allSatisfy(\.self))
    }

    @Test(
        "A disk that is too small for a new ledger is reported, and the next job creates the ledger", arguments: 1...24)
    func fullDuringCreation(number: Int) async throws {
        let disk = try SmallDisk(kibibytes: number * 8)
        let pool = Sample.pool([Sample.ping("A")])
        let plan = Planner.plan(pool, LedgerState(), rules: PlanRules(), now: now)
        for _ in 0..<2 {
            do {
                let ledger = try Ledger(path: disk("l"), now: now)
                try ledger.begin(plan)
            } catch let error as LedgerError {
                #expect(["full", "file \(ENOSPC)"].contains(error.caseName))
            }
        }
        try disk.enlarge(kibibytes: 8000)
        let ledger = try Ledger(path: disk("l"), now: now)
        try ledger.begin(plan)
        #expect(try await ledger.mark(plan.sends, at: now) == [true])
    }

    @Test("A ledger on a read-only disk can be read but not used by a job")
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
        #expect(error?.caseName == "file \(EROFS)")
        let overview = try LedgerView(path: disk("l")).overview(today: DayRule.utc.day(of: now))
        #expect(overview.counts.values.map(\.inFlightCount) == [1])
    }
}
