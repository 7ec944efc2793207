import Mozilla
import Sift
import Systems
import Telemetry
import TestSupport
import Testing

@testable import Delivery

/// Tests that later jobs observe the pauses that servers requested.
@Suite struct PauseTests {
    private static let server = "https://incoming.example:443"
    private let folder: TemporaryFolder
    private let now = Sample.time(0)

    init() throws { folder = try TemporaryFolder(inMemory: true) }

    private func plan(
        _ state: LedgerState, at now: Timestamp, endpoint: String = server, accounts: Set<String>? = nil
    ) -> Plan {
        let pool = Sample.pool([Sample.ping("A"), Sample.ping("B"), Sample.sift([#"{"time":1}"#])])
        var rules = PlanRules()
        let given = [SystemName.mozilla: endpoint, .sift: "https://other.example:443"]
        rules.servers = ServerTable(given: given.compactMapValues(Endpoint.init), of: Systems.table)
        return Planner.plan(pool, state, rules: rules, now: now) { accounts?.contains($0.name) ?? true }
    }

    /// Runs a job in which the server of Mozilla requests a pause.
    private func job(_ pause: Pause, at now: Timestamp) async throws {
        let ledger = try Ledger(path: folder("l"), now: now)
        let plan = plan(LedgerState(), at: now)
        try ledger.begin(plan)
        let send = try #require(plan.sends.first)
        _ = try await ledger.mark([send], at: now)
        let outcome = Outcome.retryLater(status: 429, reason: "busy")
        try await ledger.settle([Settlement(send: send, recordID: "A", outcome: outcome, pause: pause)], at: now)
    }

    private func pauses() throws -> [Pause] { try LedgerView(path: folder("l")).overview(today: 0).pauses }

    @Test("A pause applies to later jobs until it ends, and only to its server")
    func laterJobs() async throws {
        try await job(Pause(endpoint: Self.server, seconds: 3600, now: now), at: now)
        let view = try LedgerView(path: folder("l"))
        let state = try view.state(of: Sample.pool([]), today: 0)
        let waiting = plan(state, at: Sample.time(59))
        #expect(waiting.dispositions == [.serverPause, .serverPause, .send])
        #expect(waiting.pauses.map(\.endTime) == [Sample.time(60)])
        #expect(waiting.reasonCounts == [WaitReason(code: "server-pause"): 2])
        let over = plan(state, at: Sample.time(60))
        #expect(over.dispositions == [.send, .send, .send] && over.pauses.isEmpty)
        let moved = plan(state, at: now, endpoint: "https://moved.example:443")
        #expect(moved.dispositions == [.send, .send, .send] && moved.pauses.isEmpty)
    }

    @Test("The longest pause applies, and older ones are removed when they end")
    func severalPauses() async throws {
        try await job(Pause(endpoint: Self.server, seconds: 3600, now: now), at: now)
        try await job(Pause(endpoint: Self.server, seconds: 60, now: now), at: now)
        #expect(try pauses().map(\.endTime) == [Sample.time(60)])
        try await job(Pause(endpoint: Self.server, seconds: 7200, now: now), at: now)
        #expect(try pauses().map(\.endTime) == [Sample.time(120)])
        _ = try Ledger(path: folder("l"), now: now).begin(plan(LedgerState(), at: Sample.time(121)))
        #expect(try pauses().isEmpty)
    }

    @Test("No pause lasts longer than a week")
    func maximumPause() {
        for seconds in [7 * 86_400, 7 * 86_400 + 1, .max] {
            #expect(Pause(endpoint: "e", seconds: seconds, now: now).endTime == Sample.time(7 * 1440))
        }
        #expect(Pause(endpoint: "e", seconds: .min, now: now).endTime == now)
    }

    @Test("A pause from a clock that was years ahead is ignored and removed")
    func wrongClock() async throws {
        let wrong = Sample.time(2 * 365 * 1440)
        try await job(Pause(endpoint: Self.server, seconds: 3600, now: wrong), at: wrong)
        #expect(try pauses().map { $0.isActive(at: now) } == [false])
        try await job(Pause(endpoint: Self.server, seconds: 60, now: now), at: now)
        #expect(try pauses().map(\.endTime) == [Sample.time(1)])
    }

    @Test("The address of a server, in any spelling, removes its pause")
    func forgottenPause() async throws {
        try await job(Pause(endpoint: Self.server, seconds: 3600, now: now), at: now)
        let ledger = try Ledger(path: folder("l"), now: now)
        #expect(try ledger.forget(["https://other.example"]) == ["https://other.example": 0])
        #expect(try ledger.forget(["HTTPS://Incoming.example/"]) == ["HTTPS://Incoming.example/": 1])
        #expect(try pauses().isEmpty)
    }

    @Test("A missing credential is reported before a pause")
    func missingCredential() {
        var state = LedgerState()
        state.pauses = [Pause(endpoint: "https://other.example:443", seconds: 60, now: now)]
        #expect(plan(state, at: now, accounts: []).dispositions == [.send, .send, .missingCredential])
        #expect(plan(state, at: now).dispositions == [.send, .send, .serverPause])
    }
}
