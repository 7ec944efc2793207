import Foundation
import Parallel
import Telemetry
import TestSupport
import Testing

@testable import Delivery

/// Tests jobs whose system has several servers.
@Suite struct ProbeJobTests {
    private let folder: TemporaryFolder
    private let now = Sample.time(60)

    init() throws { folder = try TemporaryFolder() }

    private static func record(_ id: String, _ type: String, client: String, minute: Int) -> Record {
        Record(
            system: .probe, type: type, id: id, client: client, time: Sample.time(minute),
            target: Target(path: "/submit/\(type)/\(id)"), payload: Array("{}".utf8),
            source: Source(capture: "c", path: "p", store: .harEntry, index: 0))
    }

    private func bundle(_ records: [Record]) async throws -> String {
        try await Sample.bundle(records, at: folder("b.tar.zst"))
    }

    /// Returns the plan of a job, and the job, which serves one client after another.
    private func job(
        _ bundle: String, _ systems: SystemTable, given: [SystemName: Endpoint] = [:]
    ) async throws -> (plan: Plan, job: Job, ledger: Ledger) {
        let ledger = try Ledger(path: folder("ledger"), now: now)
        let bundles = try await VerifiedBundles(
            [bundle], knowing: systems, limit: JobLimit(jobs: 1), isReleased: { _, _ in false })
        var settings = JobSettings(
            sender: SenderSettings(agent: "Pingferry/1", endpoints: given, systems: systems),
            credentials: Credentials(of: systems)
        ) { [now] in now }
        settings.sender.connections = 1
        // The limits are long, because the machine may be busy.
        settings.sender.connectTimeout = 600
        settings.sender.readTimeout = 600
        settings.sender.exchangeTimeout = 3600
        settings.backoff.initialDelay = 0
        var rules = PlanRules()
        rules.servers = settings.sender.servers
        let state = try ledger.view.state(of: bundles.pool, today: rules.days.day(of: now))
        let plan = Planner.plan(bundles.pool, state, rules: rules, now: now)
        try ledger.begin(plan)
        return (plan, Job(plan: plan, source: bundles.source, ledger: ledger, settings: settings), ledger)
    }

    /// Runs a job to its end.
    private func run(
        _ bundle: String, _ systems: SystemTable, given: [SystemName: Endpoint] = [:]
    ) async throws -> (plan: Plan, report: JobReport) {
        let (plan, job, _) = try await job(bundle, systems, given: given)
        return (plan, try await job.run())
    }

    private func codes(_ report: JobReport) -> [String: Int] {
        Dictionary(report.undelivered.map { ($0.key.code, $0.value) }, uniquingKeysWith: +)
    }

    private func paths(_ server: LoopbackServer) async throws -> [String] {
        try await server.report().requests.map(\.path)
    }

    // MARK: Servers of types

    @Test func typeWithItsOwnServerIsSentToIt() async throws {
        let (server, other) = (try LoopbackServer(), try LoopbackServer())
        for server in [server, other] { try await server.setRules() }
        let bundle = try await bundle([
            Self.record("1", "hello", client: "C", minute: 0), Self.record("2", "other", client: "C", minute: 1),
            Self.record("3", "hello", client: "C", minute: 2),
        ])
        let systems = ProbeSystem.makeTable(
            endpoint: server.address, endpointsOfTypes: ["other": other.address])
        let (_, report) = try await run(bundle, systems)
        #expect(report.delivered == 3 && report.failure == nil)
        #expect(try await paths(server) == ["/submit/hello/1", "/submit/hello/3"])
        #expect(try await paths(other) == ["/submit/other/2"])
    }

    @Test func givenAddressReceivesAllTypesOfItsSystem() async throws {
        let (documented, given) = (try LoopbackServer(), try LoopbackServer())
        for server in [documented, given] { try await server.setRules() }
        let bundle = try await bundle([
            Self.record("1", "hello", client: "C", minute: 0), Self.record("2", "other", client: "C", minute: 1),
        ])
        let systems = ProbeSystem.makeTable(
            endpoint: documented.address, endpointsOfTypes: ["other": documented.address])
        let (_, report) = try await run(bundle, systems, given: [.probe: try #require(Endpoint(given.address))])
        #expect(report.delivered == 2 && report.failure == nil)
        #expect(try await paths(given) == ["/submit/hello/1", "/submit/other/2"])
        #expect(try await documented.report().total == 0)
    }

    @Test func pauseAppliesOnlyToTheServerThatRequestedIt() async throws {
        let (server, other) = (try LoopbackServer(), try LoopbackServer())
        try await server.setRules(#"[{"status":429,"headers":{"Retry-After":"3600"}}]"#)
        try await other.setRules()
        let bundle = try await bundle([
            Self.record("1", "hello", client: "C", minute: 0), Self.record("2", "other", client: "C", minute: 1),
            Self.record("3", "hello", client: "D", minute: 0), Self.record("4", "other", client: "D", minute: 1),
        ])
        let systems = ProbeSystem.makeTable(
            endpoint: server.address, endpointsOfTypes: ["other": other.address])
        let (_, first) = try await run(bundle, systems)
        #expect(first.delivered == 1 && first.failure == nil)
        #expect(codes(first) == ["status-429": 1, "earlier-upload-failed": 1, "server-left-alone": 1])
        #expect(try await server.report().total == 1)
        #expect(try await other.report().total == 1)
        // The next job sends the rest to the other server.
        let (plan, second) = try await run(bundle, systems)
        #expect(plan.pauses.map(\.endpoint) == [server.address])
        #expect([Disposition.serverPause, .send, .delivered].map { plan.count($0) } == [2, 1, 1])
        #expect(second.delivered == 1 && second.undelivered.isEmpty)
        #expect(try await server.report().total == 1)
        #expect(try await other.report().total == 2)
    }
}
