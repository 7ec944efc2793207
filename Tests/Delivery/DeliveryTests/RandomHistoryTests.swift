import Foundation
import Telemetry
import TestSupport
import Testing

@testable import Delivery

/// Tests random sequences of jobs with a real ledger.
///
/// The clock jumps, jobs are killed, and servers refuse uploads.
@Suite struct RandomHistoryTests {
    static let zones = [
        "UTC", "Europe/Berlin", "America/New_York", "Pacific/Kiritimati", "Australia/Lord_Howe", "Asia/Kathmandu",
        "Pacific/Honolulu",
    ]

    @Test(
        "Limits hold on every day, and each record is planned once and not lost",
        arguments: Array(0..<12) + [51, 106, 168, 188, 310])
    func randomHistory(seed: Int) async throws {
        let folder = try TemporaryFolder(inMemory: true)
        let zone = try #require(SystemTimezone.dayRule(forZone: Self.zones[seed % Self.zones.count]))
        var simulation = Simulation(seed: UInt64(seed), days: zone, ledger: folder("ledger.sqlite"))
        for _ in 0..<12 { try await simulation.runJob(mayCrash: true) }
        try await simulation.finish()
        #expect(simulation.faults == [])
    }

    @Test("Setting back the clock never frees quota", arguments: 0..<20)
    func clockSetBack(seed: Int) async throws {
        let folder = try TemporaryFolder(inMemory: true)
        var generator = SeededGenerator(seed: UInt64(seed))
        var now = Sample.time(Int.random(in: 0..<3000, using: &generator))
        let records = (0..<60).map { (number: Int) in Sample.ping("\(number)", minute: number) }
        let rules = PlanRules(limits: UploadLimits(daily: 10, perType: nil))
        var allowed: Int?
        for round in 0..<8 {
            let ledger = try Ledger(path: folder("l"), now: now)
            let pool = Sample.pool(records)
            let state = try ledger.view.state(of: pool, today: rules.days.day(of: now))
            let plan = Planner.plan(pool, state, rules: rules, now: now)
            if let allowed { #expect(plan.uploadCount <= allowed, "round \(round)") }
            try ledger.begin(plan)
            let sends = Array(plan.sends.prefix(Int.random(in: 0...2, using: &generator)))
            for send in sends {
                #expect(try await ledger.mark([send], at: now) == [true])
                let delivered = Settlement(send: send, recordID: "", outcome: .delivered(status: 200))
                try await ledger.settle([delivered], at: now)
            }
            allowed = plan.uploadCount - sends.count
            let hours: [Int64] = [1, 24, 5 * 24, 4000 * 24]
            let back = hours.randomElement(using: &generator).map { $0 * 3_600_000 }
            now = Timestamp(clamping: now.milliseconds - (back ?? 0))
        }
    }

    @Test("A clock that was years ahead for one night does not block uploads for years")
    func clockAhead() async throws {
        let folder = try TemporaryFolder(inMemory: true)
        let rules = PlanRules(limits: UploadLimits(daily: 5, perType: nil))
        let day = 24 * 60
        var sent: [Int] = []
        for (minute, job) in [0, 5000 * day, 1, day + 1, 2 * day + 1, 3 * day + 1].enumerated().map({ ($1, $0) }) {
            let now = Sample.time(minute)
            let ledger = try Ledger(path: folder("l"), now: now)
            let pool = Sample.pool((0..<5).map { Sample.ping("\(job)-\($0)") })
            let state = try ledger.view.state(of: pool, today: rules.days.day(of: now))
            let plan = Planner.plan(pool, state, rules: rules, now: now)
            try ledger.begin(plan)
            _ = try await ledger.mark(plan.sends, at: now)
            sent.append(plan.uploadCount)
        }
        // The quota is used up on the first day and in the year 2033. Two days later, the wrong clock no longer
        // matters.
        #expect(sent == [5, 5, 0, 0, 5, 5])
    }
}

/// A simulation of clients, bundles, a clock, a ledger and servers.
private struct Simulation {
    private var generator: SeededGenerator
    private let rules: PlanRules
    private let ledgerPath: String
    private var now: Timestamp
    private var records: [Record] = []
    /// The uploads that servers received, by day and quota.
    private var received: [String: Set<RecordKey>] = [:]
    private var delivered: Set<RecordKey> = []
    private var refused: Set<RecordKey> = []
    private(set) var faults: [String] = []

    init(seed: UInt64, days: DayRule, ledger: String) {
        generator = SeededGenerator(seed: seed)
        ledgerPath = ledger
        // These are times shortly before a change of the clock in Berlin or New York.
        let starts = ["2026-10-24T01:00:00Z", "2026-03-28T20:00:00Z", "2026-03-07T15:00:00Z", "2026-06-01T23:30:00Z"]
        now = starts.randomElement(using: &generator).flatMap { Timestamp(rfc3339: $0) } ?? Sample.time(0)
        let daily = Bool.random(using: &generator) ? Int.random(in: 1...9, using: &generator) : nil
        let perType = Bool.random(using: &generator) ? Int.random(in: 1...5, using: &generator) : nil
        let scope = UploadLimits.Scope.allCases.randomElement(using: &generator) ?? .client
        rules = PlanRules(limits: UploadLimits(daily: daily, perType: perType, scope: scope), days: days)
    }

    private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &generator) < percent }

    /// Adds records, some of which have the id of an earlier one.
    private mutating func addRecords() {
        for _ in 0..<Int.random(in: 0...12, using: &generator) {
            let id = "\(Int.random(in: 0..<60, using: &generator))"
            let client = [nil, "A", "B", "C"].randomElement(using: &generator) ?? nil
            let held: [Hold] = chance(10) ? [.tooFewEvents] : []
            records.append(
                Sample.ping(
                    id, type: chance(50) ? "core" : "focus-event", client: client,
                    minute: chance(90) ? Int.random(in: 0..<5000, using: &generator) : nil,
                    seq: chance(80) ? 1 : 2, held: held))
        }
    }

    private mutating func changeClock() {
        let milliseconds: Int64
        switch Int.random(in: 0..<10, using: &generator) {
        case 0: milliseconds = -Int64.random(in: 0..<90_000_000, using: &generator)
        case 1: milliseconds = Int64.random(in: 0..<400_000_000, using: &generator)
        default: milliseconds = Int64.random(in: 0..<30_000_000, using: &generator)
        }
        now = Timestamp(clamping: now.milliseconds + milliseconds)
    }

    mutating func runJob(mayCrash: Bool) async throws {
        addRecords()
        changeClock()
        let bundles = mayCrash ? records.filter { _ in chance(80) } : records
        let ledger = try Ledger(path: ledgerPath, now: now)
        let pool = Sample.pool(bundles)
        let state = try ledger.view.state(of: pool, today: rules.days.day(of: now))
        let plan = Planner.plan(pool, state, rules: rules, now: now)
        check(plan, pool)
        try ledger.begin(plan)
        for queue in plan.queues {
            for send in queue.sends {
                if mayCrash, chance(4) { return }
                if chance(20) {
                    now = Timestamp(clamping: now.milliseconds + Int64.random(in: 0..<4_000_000, using: &generator))
                }
                guard try await ledger.mark([send], at: now) == [true] else { break }
                if mayCrash, chance(3) { return }
                let outcome = try await answer(send, plan, ledger, mayFail: mayCrash)
                guard let outcome else { return }
                if case .delivered = outcome { continue }
                if case .refused = outcome { continue }
                break
            }
        }
    }

    /// Simulates the answer of a server.
    ///
    /// Returns `nil` if the job is killed before it settles the upload.
    private mutating func answer(_ send: PlannedUpload, _ plan: Plan, _ ledger: Ledger, mayFail: Bool) async throws
        -> Outcome?
    {
        if delivered.contains(send.key) { faults.append("sent again after it was settled") }
        let outcome: Outcome
        switch mayFail ? Int.random(in: 0..<20, using: &generator) : 19 {
        case 0: outcome = .retryLater(reason: "503")
        case 1: outcome = .unknown(reason: "cut")
        case 2: outcome = .refused(status: 400, reason: "bad")
        case 3: outcome = .credentialWrong(status: 403, reason: "no")
        default: outcome = .delivered(status: 200)
        }
        let isReceived =
            switch outcome {
            case .retryLater, .credentialWrong: false
            case .unknown, .delivered, .refused: true
            }
        if isReceived { receive(send, plan) }
        if mayFail, chance(3) { return nil }
        try await ledger.settle([Settlement(send: send, recordID: "x", outcome: outcome)], at: now)
        if case .delivered = outcome { delivered.insert(send.key) }
        if case .refused = outcome { refused.insert(send.key) }
        return outcome
    }

    private mutating func receive(_ send: PlannedUpload, _ plan: Plan) {
        let client = plan.names.clients[send.record.clientIndex]
        let bucket = rules.limits.scope == .client ? "\(client)" : ""
        let slot = "\(rules.days.day(of: now)) \(bucket)"
        received[slot, default: []].insert(send.key)
        if let daily = rules.limits.daily, received[slot, default: []].count > daily {
            faults.append("over on \(slot)")
        }
    }

    private mutating func check(_ plan: Plan, _ pool: CandidatePool) {
        let keys = plan.sends.map(\.key)
        if Set(keys).count != keys.count { faults.append("planned twice") }
        if keys.contains(where: { delivered.contains($0) || refused.contains($0) }) { faults.append("planned again") }
        if Set(plan.sends.map(\.key.identity)).count != keys.count { faults.append("one id twice in a job") }
        if plan.groupCounts.values.reduce(0, +) != pool.count || plan.dispositions.count != pool.count {
            faults.append("a record is missing in the summary")
        }
        for disposition in Disposition.allCases
        where plan.count(disposition) != plan.dispositions.count(where: { $0 == disposition }) {
            faults.append("\(disposition) is counted wrong")
        }
        if plan.count(.send) != keys.count { faults.append("more or fewer uploads than records to send") }
        for queue in plan.queues {
            let times = queue.sends.map { pool.candidates[Int($0.record.location.segmentIndex)].sortTime }
            if times != times.sorted() { faults.append("not in order of time") }
        }
        var types: [String: Int] = [:]
        for send in plan.sends {
            types[
                "\(rules.limits.scope == .client ? send.record.clientIndex : 0) \(send.record.typeIndex)", default: 0] +=
                1
        }
        if let perType = rules.limits.perType, types.values.contains(where: { $0 > perType }) {
            faults.append("type limit")
        }
    }

    /// Runs jobs on the following days until nothing is left.
    mutating func finish() async throws {
        var keys: Set<RecordKey> = []
        var open = records.filter { $0.held.isEmpty }.map { (key: RecordKey($0), record: $0) }
            .filter { keys.insert($0.key).inserted }
        for _ in 0..<400 {
            // All records were in bundles often enough to be settled, and no new records are added.
            open.removeAll { delivered.contains($0.key) || refused.contains($0.key) }
            if open.isEmpty { return }
            records = open.map(\.record)
            now = Timestamp(clamping: now.milliseconds + 86_400_000)
            try await runJob(mayCrash: false)
        }
        faults.append("something is never sent")
    }
}
