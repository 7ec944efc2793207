import Foundation
import Mozilla
import SQLite
import Telemetry
import TestSupport
import Testing

@testable import Delivery

/// Tests the file, the lock and the entries of a ledger.
@Suite struct LedgerTests {
    private let folder: TemporaryFolder
    private let path: String
    private let now = Sample.time(0)

    init() throws {
        folder = try TemporaryFolder(inMemory: true)
        path = folder("state/ledger.sqlite")
    }

    private func begin(_ records: [Record], rules: PlanRules = PlanRules(), at now: Timestamp? = nil) throws -> (
        Ledger, Plan
    ) {
        let now = now ?? self.now
        let ledger = try Ledger(path: path, now: now)
        let pool = Sample.pool(records, isReleased: try ledger.view.releaseCheck())
        let state = try ledger.view.state(of: pool, today: rules.days.day(of: now))
        let plan = Planner.plan(pool, state, rules: rules, now: now)
        try ledger.begin(plan)
        return (ledger, plan)
    }

    private func settle(_ outcome: Outcome, _ records: [Record], id: String = "A", at now: Timestamp? = nil)
        async throws
    {
        let (ledger, plan) = try begin(records, at: now)
        for send in plan.sends {
            _ = try await ledger.mark([send], at: now ?? self.now)
            try await ledger.settle([Settlement(send: send, recordID: id, outcome: outcome)], at: now ?? self.now)
        }
    }

    private func dispositions(_ records: [Record], at now: Timestamp? = nil) throws -> [Disposition] {
        try begin(records, at: now).1.dispositions
    }

    private func overview() throws -> LedgerOverview {
        try LedgerView(path: path).overview(today: DayRule.utc.day(of: now))
    }

    private func mode(_ path: String) throws -> Int {
        try #require(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }

    // MARK: File

    @Test("Changes to a ledger that was removed while in use are reported as errors")
    func removedLedger() async throws {
        let (ledger, plan) = try begin([Sample.ping("A")])
        _ = try await ledger.mark(plan.sends, at: now)
        try FileManager.default.removeItem(atPath: path)
        let settlement = Settlement(send: plan.sends[0], recordID: "A", outcome: .delivered(status: 200))
        var error = await #expect(throws: LedgerError.self) { try await ledger.settle([settlement], at: now) }
        #expect(error?.caseName == "removed")
        try FileManager.default.copyItem(atPath: path + ".lock", toPath: path)
        error = #expect(throws: LedgerError.self) { try ledger.recordEnd(status: 0, at: now) }
        #expect(error?.caseName == "removed")
    }

    @Test("The ledger and its folder are accessible only to the owner")
    func privateFile() async throws {
        try await settle(.delivered(status: 200), [Sample.ping("A")])
        #expect(try mode(path) == 0o600)
        #expect(try mode(path + ".lock") == 0o600)
        #expect(try mode(folder("state")) == 0o700)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        _ = try Ledger(path: path, now: now)
        #expect(try mode(path) == 0o600)
    }

    /// The host name of the system.
    private static let host: String? = FileManager.default.contents(atPath: "/proc/sys/kernel/hostname")
        .map { String(decoding: $0.dropLast(), as: UTF8.self) }

    @Test("A second process cannot open the ledger and is told who has locked it")
    func lock() throws {
        do {
            let ledger = try Ledger(path: path, now: now)
            do {
                _ = try Ledger(path: path, now: now)
                Issue.record("opened twice")
            } catch .locked(_, let holder) {
                #expect(holder?.pid == Int(getpid()))
                #expect(holder?.started == now.description)
                #expect(holder?.host == Self.host)
            }
            // Reading is possible while the ledger is locked.
            _ = try LedgerView(path: path).overview(today: 0)
            _ = ledger.path
        }
        _ = try Ledger(path: path, now: now)
    }

    @Test("A symbolic link leads to the same locked ledger")
    func lockByLink() throws {
        let ledger = try Ledger(path: path, now: now)
        let link = folder("link.sqlite")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
        let error = #expect(throws: LedgerError.self) { try Ledger(path: link, now: now) }
        #expect(error?.caseName == "locked")
        _ = ledger.path
    }

    @Test("A file that is not a ledger is not changed", arguments: ["text", "database"])
    func notALedger(kind: String) throws {
        try FileManager.default.createDirectory(atPath: folder("state"), withIntermediateDirectories: true)
        if kind == "text" {
            try Data(repeating: 0x41, count: 5000).write(to: URL(fileURLWithPath: path))
        } else {
            let file = try DatabaseFile(path: path, .writing)
            try file.write { try $0.run(script: "CREATE TABLE notes (text)") }
            file.close()
        }
        chmod(path, 0o644)
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        for attempt in [{ _ = try Ledger(path: path, now: now) }, { _ = try LedgerView(path: path) }]
            as [() throws -> Void]
        {
            let error = #expect(throws: LedgerError.self) { try attempt() }
            #expect(error?.caseName == "notALedger")
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o644)
    }

    @Test("A damaged ledger is reported and not replaced", arguments: [0.0, 0.3, 0.6])
    func damagedLedger(position: Double) async throws {
        let records = (0..<300).map { Sample.ping("\($0)", client: "\($0)") }
        try await settle(.delivered(status: 200), records)
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        // The header stays intact, because it identifies the file as a ledger.
        let start = Int(Double(bytes.count) * position) / 4096 * 4096 + 200
        for index in start..<min(start + 20_000, bytes.count) {
            bytes[index] = UInt8(truncatingIfNeeded: index &* 31 &+ 7)
        }
        try bytes.write(to: URL(fileURLWithPath: path))
        let error = #expect(throws: LedgerError.self) { try Ledger(path: path, now: now) }
        #expect(error?.caseName == "damaged")
        #expect(error?.remedy?.contains("backup") == true)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == bytes)
    }

    @Test("Opening a missing ledger for reading does not create it")
    func missingLedger() throws {
        let error = #expect(throws: LedgerError.self) { try LedgerView(path: path) }
        #expect(error?.caseName == "missing")
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test("A stored time beyond the year 9999 or before 1970 is invalid")
    func times() {
        // The last three exceed 64 bits as milliseconds. The first of these would become 384.
        let seconds: [Int64] = [0, 253_402_300_799, 253_402_300_800, -1, 18_446_744_073_709_552, .max, .min]
        let expected: [Int64?] = [0, 253_402_300_799_000, nil, nil, nil, nil, nil]
        #expect(seconds.map { Timestamp(seconds: $0)?.milliseconds } == expected)
    }

    @Test("A settled record takes at most 150 bytes")
    func recordSize() async throws {
        let records = (0..<10_000).map { (number: Int) in
            Sample.ping("\(number)", client: "client-\(number % 1000)", minute: number)
        }
        do {
            let (ledger, plan) = try begin(records, rules: PlanRules(limits: UploadLimits(daily: nil, perType: nil)))
            var left = plan.sends[...]
            while !left.isEmpty {
                let group = Array(left.prefix(5000))
                left = left.dropFirst(5000)
                _ = try await ledger.mark(group, at: now)
                let delivered = group.map { Settlement(send: $0, recordID: "", outcome: .delivered(status: 200)) }
                try await ledger.settle(delivered, at: now)
            }
        }
        #expect(try overview().counts.values.reduce(0) { $0 + $1.deliveredCount } == 10_000)
        let size = try #require(try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
        #expect(size <= 150 * 10_000, "\(size) bytes")
    }

    // MARK: Uploads

    @Test("Delivered, refused and empty records are not sent again")
    func settledRecords() async throws {
        try await settle(.delivered(status: 200), [Sample.ping("A")])
        #expect(try dispositions([Sample.ping("A")]) == [.delivered])
        try await settle(.refused(status: 413, reason: "too large"), [Sample.ping("B")], id: "B")
        #expect(
            try dispositions([Sample.ping("A"), Sample.ping("B"), Sample.ping("C")]) == [.delivered, .refused, .send])
        #expect(try overview().remarks.map(\.text) == ["too large"])
        #expect(try overview().remarks.map(\.status) == [413])
    }

    @Test("Another payload with the same id is sent 15 minutes after the first")
    func sameID() async throws {
        try await settle(.delivered(status: 200), [Sample.ping("A", seq: 1)])
        #expect(try dispositions([Sample.ping("A", seq: 2)], at: Sample.time(14)) == [.sameIDSentRecently])
        #expect(try dispositions([Sample.ping("A", seq: 2)], at: Sample.time(15)) == [.send])
    }

    @Test("Marking an upload uses the quota, and an upload that was certainly not sent returns it")
    func quota() async throws {
        let rules = PlanRules(limits: UploadLimits(daily: 2, perType: nil))
        let records = (0..<3).map { (number: Int) in Sample.ping("\(number)", minute: number) }
        let (ledger, plan) = try begin(records, rules: rules)
        #expect(plan.uploadCount == 2)
        #expect(try await ledger.mark(plan.sends, at: now) == [true, true])
        // Marking an upload twice uses the quota once.
        #expect(try await ledger.mark(plan.sends, at: now) == [true, true])
        #expect(try overview().uploadsToday.values.reduce(0, +) == 2)
        try await ledger.settle(
            [Settlement(send: plan.sends[0], recordID: "", outcome: .retryLater(reason: "503"))], at: now)
        #expect(try overview().uploadsToday.values.reduce(0, +) == 1)
        let wrong = Outcome.credentialWrong(status: 403, reason: "no")
        try await ledger.settle([Settlement(send: plan.sends[1], recordID: "", outcome: wrong)], at: now)
        #expect(try overview().uploadsToday.values.reduce(0, +) == 0)
        for outcome in [Outcome.delivered(status: 204), .refused(status: 400, reason: "bad")] {
            let send = plan.sends[outcome.status == 204 ? 0 : 1]
            _ = try await ledger.mark([send], at: now)
            try await ledger.settle([Settlement(send: send, recordID: "", outcome: outcome)], at: now)
        }
        #expect(try overview().uploadsToday.values.reduce(0, +) == 2)
    }

    @Test("An upload that may have arrived keeps its quota, even if a later attempt did not arrive")
    func uncertainUpload() async throws {
        let (ledger, plan) = try begin([Sample.ping("A")])
        _ = try await ledger.mark(plan.sends, at: now)
        try await ledger.settle(
            [Settlement(send: plan.sends[0], recordID: "", outcome: .unknown(reason: "cut"))], at: now)
        try await ledger.settle(
            [Settlement(send: plan.sends[0], recordID: "", outcome: .retryLater(reason: "503"))], at: now)
        #expect(try overview().uploadsToday.values.reduce(0, +) == 1)
        #expect(try overview().counts.values.map(\.inFlightCount) == [1])
        #expect(try overview().counts.values.map(\.waitingCounts) == [[:]])
    }

    @Test("Uploads that a killed job left in flight are sent again and count once that day")
    func killedJob() async throws {
        do {
            let (ledger, plan) = try begin([Sample.ping("A")])
            _ = try await ledger.mark(plan.sends, at: now)
        }
        let (ledger, plan) = try begin([Sample.ping("A")])
        #expect(plan.dispositions == [.send])
        _ = try await ledger.mark(plan.sends, at: now)
        #expect(try overview().uploadsToday.values.reduce(0, +) == 1)
        // The quota remains used, because the first job may have delivered the upload.
        try await ledger.settle(
            [Settlement(send: plan.sends[0], recordID: "", outcome: .retryLater(reason: "503"))], at: now)
        #expect(try overview().uploadsToday.values.reduce(0, +) == 1)
    }

    @Test("The ledger does not mark uploads beyond the limit, even if the plan contains them")
    func limitWhenMarking() async throws {
        let rules = PlanRules(limits: UploadLimits(daily: 2, perType: nil))
        let (ledger, _) = try begin((0..<2).map { Sample.ping("\($0)") }, rules: rules)
        let others = Planner.plan(
            Sample.pool((0..<4).map { Sample.ping("\($0)") }), LedgerState(),
            rules: PlanRules(limits: UploadLimits(daily: nil)), now: now
        ).sends
        #expect(try await ledger.mark(others, at: now) == [true, true, false, false])
        // The day ends while the job runs.
        #expect(try await ledger.mark(others.suffix(2), at: Sample.time(24 * 60)) == [true, true])
    }

    @Test("Changes of many clients are written in groups, and each receives its own result")
    func groupCommit() async throws {
        let records = (0..<400).map { Sample.ping("\($0)", client: "\($0 % 40)") }
        let (ledger, plan) = try begin(records, rules: PlanRules(limits: UploadLimits(daily: nil, perType: nil)))
        let answers = try await withThrowingTaskGroup(of: Int.self) { group in
            for queue in plan.queues {
                group.addTask { [now] in
                    var previous: Settlement?
                    for send in queue.sends {
                        let isMarked = try await ledger.commit(settling: previous, marking: send, at: now)
                        guard isMarked else { return 0 }
                        previous = Settlement(send: send, recordID: "", outcome: .delivered(status: 200))
                    }
                    try await ledger.commit(settling: previous, marking: nil, at: now)
                    return queue.sends.count
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(answers == 400)
        #expect(try overview().counts.values.reduce(0) { $0 + $1.deliveredCount } == 400)
        #expect(try overview().counts.values.reduce(0) { $0 + $1.inFlightCount } == 0)
    }

    // MARK: Edits

    @Test("The operator can send a refused record again")
    func retry() async throws {
        try await settle(.refused(status: 400, reason: "bad"), [Sample.ping("A")])
        do {
            let ledger = try Ledger(path: path, now: now)
            #expect(try ledger.retry(.ids(["A", "none"])) == ["A": 1, "none": 0])
            #expect(try ledger.retry(.ids(["A"])) == ["A": 0])
        }
        #expect(try dispositions([Sample.ping("A")]) == [.send])
        #expect(try overview().remarks.isEmpty)
    }

    @Test("A record is released for one hold code and one id")
    func release() throws {
        let records = ["A", "B"].map { Sample.ping($0, held: [.tooFewEvents]) }
        #expect(try dispositions(records) == [.held, .held])
        #expect(try Ledger(path: path, now: now).release(["A"], heldFor: "schema") == ["A": 1])
        #expect(try dispositions(records) == [.held, .held])
        #expect(try Ledger(path: path, now: now).release(["A"], heldFor: "too-few-events") == ["A": 1])
        #expect(try dispositions(records) == [.send, .held])
        #expect(try Ledger(path: path, now: now).forget(["A"]) == ["A": 2])
        #expect(try dispositions(records) == [.held, .held])
    }

    @Test("A forgotten record counts as never sent, but today's quota remains used")
    func forget() async throws {
        try await settle(.delivered(status: 200), [Sample.ping("A"), Sample.ping("B")])
        #expect(try Ledger(path: path, now: now).forget(["A"]) == ["A": 1])
        #expect(try dispositions([Sample.ping("A"), Sample.ping("B")]) == [.send, .delivered])
        #expect(try overview().uploadsToday.values.reduce(0, +) == 2)
    }

    @Test("The overview counts records by client and type, with the reasons for waiting")
    func overviewCounts() async throws {
        let records = [
            Sample.ping("A"), Sample.ping("B", type: "focus-event"), Sample.ping("C", client: "D"),
            Sample.ping("E", held: [.tooFewEvents]),
        ]
        try await settle(.delivered(status: 200), records)
        let overview = try overview()
        let group = RecordGroup(
            client: ClientName(system: .mozilla, client: "c"), type: TypeName(system: .mozilla, name: "core"))
        #expect(overview.counts.count == 3)
        #expect(overview.counts[group]?.deliveredCount == 1)
        #expect(overview.counts[group]?.waitingCounts == [WaitReason(code: "held", detail: "too-few-events"): 1])
        #expect(overview.uploadsToday[group.client] == 2)
        #expect(overview.lastJobTime == now)
    }
}
