import Adjust
import Foundation
import Glean
import Leanplum
import Mozilla
import SQLite
import Systems
import Telemetry
import TestSupport
import Testing

@testable import Delivery

/// Tests that withdrawals in any bundle of a job, or in the ledger, apply to all records of their client or profile.
@Suite struct WithdrawalTests {
    private typealias Contents = Sample.BundleContents

    private let folder: TemporaryFolder
    private let now = Sample.time(60 * 24)
    private let client = "5F0D1C7A-2B94-4E0C-9D3E-8A61B7C2F415"
    private let other = "2B7E1F30-64C5-4A9D-8F12-9D0C3B5A7E68"

    init() throws { folder = try TemporaryFolder(inMemory: true) }

    private func plan(_ bundles: [Contents], released code: String? = nil) -> Plan {
        let pool = Sample.pool(bundles: bundles) { _, releasedCode in releasedCode == code }
        return Planner.plan(pool, LedgerState(), rules: PlanRules(), now: now)
    }

    /// Checks the dispositions of `monday` and `tuesday`, in this order, for all orders and divisions into bundles.
    private func check(
        _ monday: Contents, _ tuesday: Contents, released code: String? = nil, _ expected: [Disposition],
        texts: [String]? = nil, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let split = monday.records.count
        let swapped = Array(expected[split...] + expected[..<split])
        let cases = [
            ([monday, tuesday], expected), ([tuesday, monday], swapped),
            ([Contents(monday.records + tuesday.records, monday.withdrawals + tuesday.withdrawals)], expected),
            ([Contents(tuesday.records + monday.records, tuesday.withdrawals + monday.withdrawals)], swapped),
        ]
        for (bundles, expected) in cases {
            let plan = plan(bundles, released: code)
            #expect(plan.dispositions == expected, sourceLocation: sourceLocation)
            if let texts {
                #expect(plan.decidingFactCounts.keys.map(\.text).sorted() == texts, sourceLocation: sourceLocation)
            }
        }
    }

    // MARK: Copies

    @Test("A copy that was delivered is used, and no other copy is sent")
    func deliveredCopy() {
        let log = Sample.core(1, client: client, capture: "log", held: [.delivered(status: 200)])
        check(
            Contents([Sample.core(1, client: client)]), Contents([log]), [.duplicate, .held],
            texts: ["held by a copy in log: delivered"])
        // After a release, the same copy is used, and it is sent once.
        check(
            Contents([Sample.core(1, client: client)]), Contents([log]), released: "delivered", [.duplicate, .send],
            texts: [])
    }

    @Test("Records with the same hold codes are one group, whether a hold or a withdrawal adds the last code")
    func oneGroupForTheSameCodes() {
        let records = [
            Sample.core(1, client: client, held: [Hold("attribution"), .forgotten]),
            Sample.core(2, client: client, held: [Hold("attribution")]), Sample.core(3, client: client),
        ]
        let plan = plan([Contents(records)])
        #expect(plan.dispositions == [.held, .held, .held])
        #expect(plan.group(ofRecordAt: 0) == plan.group(ofRecordAt: 1))
        let counts = plan.groupCounts.map { (plan.reason(of: $0.key).text, $0.value) }.sorted { $0.0 < $1.0 }
        #expect(counts.map(\.0) == ["held: attribution+forgotten", "held: forgotten"] && counts.map(\.1) == [2, 1])
    }

    @Test("A copy that is not held is used", arguments: ["metadata", "incomplete", "no-target"])
    func goodCopy(code: String) {
        let bad = Sample.glean(1, "baseline", client: client, held: [Hold(code)])
        check(Contents([bad]), Contents([Sample.glean(1, "baseline", client: client)]), [.duplicate, .send], texts: [])
    }

    @Test("Of held copies, the one with the fewest holds is used, also after a release")
    func fewestHolds() {
        let (two, one) = (
            Sample.core(1, client: client, held: [.schema(["a"]), Hold("several-clients")]),
            Sample.core(1, client: client, held: [.schema(["b"])])
        )
        check(Contents([two]), Contents([one]), [.duplicate, .held])
        check(Contents([two]), Contents([one]), released: "schema", [.duplicate, .send])
    }

    @Test("A target that belongs to another document counts as a hold of its copy")
    func foreignTarget() {
        var foreign = Sample.core(1, client: client)
        foreign.target = Sample.core(2, client: client).target
        check(Contents([foreign]), Contents([Sample.core(1, client: client)]), [.duplicate, .send])
    }

    // MARK: Forgotten devices

    @Test("A forgotten device in any bundle holds all of its packages, also after a release from attribution")
    func forgotten() {
        let fact = Sample.withdrawal(.forgotten, .adjust, client: client.lowercased())
        let monday = Contents([Sample.adjust(1, client: client), Sample.adjust(2, client: other)])
        check(
            monday, Contents([], [fact]), released: "attribution", [.held, .send],
            texts: ["forgotten: tue, Library/Preferences/com.example.shop.plist"])
        // A record with the hold has the same effect, but a file that contains the fact is named first.
        let held = Contents([Sample.adjust(3, client: client, capture: "tue", held: [Hold("attribution"), .forgotten])])
        check(
            monday, held, released: "attribution", [.held, .send, .held],
            texts: ["forgotten: tue, AdjustIoPackageQueue"])
        check(
            monday, Contents(held.records, [fact]), released: "attribution", [.held, .send, .held],
            texts: ["forgotten: tue, Library/Preferences/com.example.shop.plist"])
        let plan = plan([monday, Contents([], [fact])])
        #expect(plan.reasonCounts[WaitReason(code: "held", detail: "attribution, forgotten")] == 1)
        #expect(plan.holdCounts == ["attribution": 2, "forgotten": 1])
    }

    @Test("A forgotten device still sends its request to be forgotten")
    func requestOfForgottenDevice() {
        let payload = Array(#"{"idfv":"\#(client)"}"#.utf8)
        let request = Record(
            system: .adjust, type: "gdpr", id: PayloadHash.id(of: payload), client: client, time: Sample.time(5),
            target: Target(path: "/gdpr_forget_device"), payload: payload, source: Sample.source)
        check(
            Contents([request]), Contents([], [Sample.withdrawal(.forgotten, .adjust, client: client)]), [.send],
            texts: [])
    }

    // MARK: Usage data

    @Test("Switched-off usage data holds the records of the systems that the withdrawals name, until a release")
    func optedOut() {
        let monday = Contents([
            Sample.core(1, client: client.lowercased()), Sample.core(2, client: other),
            Sample.leanplum([#"{"action":"track","reqId":"R1"}"#], client: client, minute: 3),
            Sample.glean(4, "baseline", client: client),
        ])
        let path = "Library/Preferences/group.org.mozilla.ios.Focus.plist"
        let facts = [SystemName.mozilla, .leanplum].map {
            Sample.withdrawal(.optedOut, $0, client: client, path: path)
        }
        check(monday, Contents([], facts), [.held, .send, .held, .send], texts: ["opted-out: tue, \(path)"])
        check(monday, Contents([], [facts[0]]), [.held, .send, .send, .send])
        check(monday, Contents([], facts), released: "opted-out", [.send, .send, .send, .send], texts: [])
        let plan = plan([monday, Contents([], facts)])
        #expect(plan.reasonCounts == [WaitReason(code: "held", detail: "opted-out"): 2])
    }

    @Test("A copy that is held as opted-out decides, and its capture is named")
    func optedOutCopy() {
        let tuesday = Sample.core(1, client: client, capture: "tuesday", held: [.optedOut])
        check(
            Contents([Sample.core(1, client: client), Sample.core(2, client: client)]), Contents([tuesday]),
            [.duplicate, .held, .held],
            texts: ["held by a copy in tuesday: opted-out", "opted-out: tuesday, Documents/1"])
        // A hold of a record without a client applies only to its copies.
        var anonymous = (Sample.core(1, client: client), Sample.core(1, client: client, held: [.optedOut]))
        (anonymous.0.client, anonymous.1.client) = (nil, nil)
        check(
            Contents([anonymous.0]), Contents([anonymous.1, Sample.core(3, client: client)]),
            [.duplicate, .held, .send])
    }

    @Test("A copy with another client cannot evade a withdrawal")
    func copyOfAnotherClient() {
        let tuesday = Contents(
            [Sample.core(1, client: client)], [Sample.withdrawal(.optedOut, .mozilla, client: client)])
        var evading = Sample.core(1, client: client)
        evading.client = nil
        for bundles in [[Contents([evading]), tuesday], [tuesday, Contents([evading])]] {
            #expect(plan(bundles).uploadCount == 0)
        }
    }

    @Test("The records that a withdrawal of another bundle holds can be selected for a release")
    func selectionForRelease() {
        let pool = Sample.pool(bundles: [
            Contents([Sample.core(1, client: client), Sample.core(2, client: other)]),
            Contents([], [Sample.withdrawal(.optedOut, .mozilla, client: client)]),
        ])
        #expect(pool.indices(heldFor: "opted-out", ids: nil) == [0])
        #expect(pool.indices(heldFor: "opted-out", ids: ["2"]) == [])
    }

    // MARK: Deletion requests

    @Test("A deletion request excludes the pings of the client of telemetry-ios that it names")
    func legacyClient() {
        let request = Sample.glean(
            9, "deletion-request", client: "5f0d1c7a-0000-4e0c-9d3e-8a61b7c2f415",
            uuids: ["legacy.ids.client_id": client.lowercased()])
        check(
            Contents([Sample.core(1, client: client), Sample.core(2, client: other)]), Contents([request]),
            [.deletionRequested, .send, .send],
            texts: ["deletion-requested: phone, glean_data/\(request.id)"])
    }

    @Test("A deletion request for a profile excludes only the pings of that profile")
    func profile() {
        func ping(_ number: Int, _ profile: String?, type: String = "usage-reporting") -> Record {
            Sample.glean(number, type, client: nil, uuids: profile.map { ["usage.profile_id": $0] } ?? [:])
        }
        check(
            Contents([ping(1, client), ping(2, other), ping(3, nil), ping(4, client.lowercased())]),
            Contents([ping(9, client, type: "usage-deletion-request"), ping(8, nil, type: "usage-deletion-request")]),
            [.deletionRequested, .send, .send, .deletionRequested, .send, .send])
    }

    @Test("Client ids are equal without the case of ASCII letters, and otherwise only with equal bytes")
    func spelling() {
        let fact = Sample.withdrawal(.optedOut, .mozilla, client: "CAF\u{C9}-\u{E9}-K")
        let clients = [
            "caf\u{C9}-\u{E9}-k", "caf\u{E9}-\u{E9}-k", "cafE\u{301}-e\u{301}-k", "caf\u{C9}-\u{E9}-\u{212A}",
        ]
        let records = clients.enumerated().map { Sample.core($0, client: $1) }
        check(Contents(records), Contents([], [fact]), [.held, .send, .send, .send])
    }

    // MARK: The ledger

    /// Plans and begins a job with `bundles`, without sending anything, and returns the plan.
    @discardableResult
    private func job(_ bundles: [Contents]) throws -> Plan {
        let ledger = try Ledger(path: folder("l"), now: now)
        let pool = Sample.pool(bundles: bundles, isReleased: try ledger.view.releaseCheck())
        let plan = Planner.plan(pool, try ledger.view.state(of: pool, today: 1), rules: PlanRules(), now: now)
        try ledger.begin(plan)
        return plan
    }

    private func request(_ number: Int) -> Record {
        Sample.glean(
            number, "usage-deletion-request", client: nil, uuids: ["usage.profile_id": client], held: [Hold("metadata")]
        )
    }

    @Test("Final withdrawals apply to later jobs, also after pruning, and opted-out ones do not")
    func laterJobs() throws {
        let records = [
            Sample.adjust(1, client: client, held: []), Sample.core(2, client: client), Sample.core(3, client: other),
            Sample.glean(4, "usage-reporting", client: nil, uuids: ["usage.profile_id": client.lowercased()]),
        ]
        let facts = [
            Sample.withdrawal(.forgotten, .adjust, client: client),
            Sample.withdrawal(.deletionRequested, .mozilla, client: client, path: "glean_data/x"),
            Sample.withdrawal(.optedOut, .mozilla, client: other),
        ]
        #expect(try job([Contents(records)]).dispositions == [.send, .send, .send, .send])
        #expect(try job([Contents([request(9)], facts)]).dispositions == [.held])
        func check() throws {
            let plan = try job([Contents(records)])
            #expect(plan.dispositions == [.held, .deletionRequested, .send, .deletionRequested])
            #expect(
                plan.decidingFactCounts.keys.map(\.text).sorted() == [
                    "deletion-requested: phone, glean_data/\(request(9).id)", "deletion-requested: tue, glean_data/x",
                    "forgotten: tue, Library/Preferences/com.example.shop.plist",
                ])
        }
        try check()
        let later = Timestamp(clamping: now.milliseconds + 1_000 * 86_400_000)
        _ = try Ledger(path: folder("l"), now: later).prune(unseenFor: 0, knowing: Systems.table, at: later)
        try check()
        // A pool without records of the subjects reads none of them.
        let pool = Sample.pool([Sample.core(3, client: other)])
        #expect(try LedgerView(path: folder("l")).state(of: pool, today: 1).withdrawals == [])
    }

    @Test("Records that wait because of an earlier job are no longer reported as to be sent or released")
    func waitingRecords() throws {
        try job([
            Contents([
                Sample.adjust(1, client: client), Sample.adjust(2, client: client, held: []),
                Sample.core(3, client: client), Sample.core(4, client: other, held: [.optedOut]),
            ])
        ])
        try job([
            Contents(
                [],
                [
                    Sample.withdrawal(.forgotten, .adjust, client: client),
                    Sample.withdrawal(.deletionRequested, .mozilla, client: client),
                ])
        ])
        let view = try LedgerView(path: folder("l"))
        let counts = try view.overview(today: 1).counts.values.map(\.waitingCounts).filter { !$0.isEmpty }
        #expect(
            Set(counts) == [
                [
                    WaitReason(code: "held", detail: "attribution, forgotten"): 1,
                    WaitReason(code: "held", detail: "forgotten"): 1,
                ], [WaitReason(code: "held", detail: "opted-out"): 1],
            ])
        #expect(try view.releasableHoldCounts(knowing: Systems.table) == ["opted-out": 1])
    }

    @Test("A release from opted-out applies to records that have the hold only because of another bundle")
    func release() throws {
        let bundles = [
            Contents([Sample.core(1, client: client), Sample.core(2, client: client)]),
            Contents([], [Sample.withdrawal(.optedOut, .mozilla, client: client)]),
        ]
        #expect(try job(bundles).dispositions == [.held, .held])
        do {
            let ledger = try Ledger(path: folder("l"), now: now)
            #expect(try ledger.recordStates(of: ["1"]) == ["1": .held(["opted-out"])])
            #expect(try ledger.release(["1"], heldFor: "opted-out") == ["1": 1])
        }
        #expect(try job(bundles).dispositions == [.send, .held])
    }

    @Test("Rows of the ledger that no job can have written are ignored")
    func hostileRows() throws {
        try job([])
        let file = try DatabaseFile(path: folder("l"), .writing)
        let rows = [
            "'mozilla', 'client', '\(client)', 'opted-out', 'c', 'p'",
            "'mozilla', 'person', '\(client)', 'forgotten', 'c', 'p'",
            "'mozilla', 'client', '\(client)', 'schema', 'c', 'p'", "7, X'FF', X'00FF', 8, 9, X'FE'",
            "'mozilla', 'client', '', 'forgotten', 'c', 'p'",
            "'glean', 'client', '\(client)', 'forgotten', X'FF', X'00'",
        ]
        for row in rows { try file.write { try $0.run(script: "INSERT INTO withdrawals VALUES (\(row))") } }
        file.close()
        let plan = try job([Contents([Sample.core(1, client: client), Sample.glean(2, "baseline", client: client)])])
        #expect(plan.dispositions == [.send, .held])
    }

    @Test("The status of a bundle states the copy or the withdrawal that decided")
    func status() throws {
        var pool = Sample.pool(bundles: [
            Contents([Sample.core(1, client: client), Sample.core(2, client: client), Sample.core(3, client: other)]),
            Contents([Sample.core(1, client: client, capture: "tuesday", held: [.optedOut])]),
        ])
        for name in ["mon", "tue"] { pool.addBundle(BundleName(path: name, digest: name)) }
        let statuses = BundleStatus.allStatuses(of: PoolStatus(of: pool, LedgerState()))
        #expect(statuses.map(\.heldCounts) == [["opted-out": 2], ["opted-out": 1]])
        #expect(statuses.map(\.isDone) == [false, true])
        let texts = statuses.map { $0.factCounts.map { "\($0.key.text) \($0.value)" }.sorted() }
        #expect(
            texts == [
                ["held by a copy in tuesday: opted-out 1", "opted-out: tuesday, Documents/1 1"],
                ["opted-out: tuesday, Documents/1 1"],
            ])
    }
}
