import Files
import Foundation
import Telemetry
import TestSupport
import Testing

@testable import Delivery
@testable import pingferry_upload

/// Tests jobs whose system has several servers and instructions in answers.
@Suite struct ProbeJobTests {
    private let folder: TemporaryFolder
    private let now = Sample.time(60)

    init() throws { folder = try TemporaryFolder() }

    private static func record(_ id: String, _ type: String, client: String?, minute: Int) -> Record {
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
        _ bundle: String, _ systems: SystemTable, given: [SystemName: Endpoint] = [:],
        limits: UploadLimits = UploadLimits(),
        maximumDelay: Double = 30
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
        settings.backoff = Backoff(initialDelay: 0, maximumDelay: maximumDelay)
        var rules = PlanRules(limits: limits)
        rules.servers = settings.sender.servers
        let state = try ledger.view.state(of: bundles.pool, today: rules.days.day(of: now))
        let plan = Planner.plan(bundles.pool, state, rules: rules, now: now)
        try ledger.begin(plan)
        return (plan, Job(plan: plan, source: bundles.source, ledger: ledger, settings: settings), ledger)
    }

    /// Runs a job to its end.
    private func run(
        _ bundle: String, _ systems: SystemTable, given: [SystemName: Endpoint] = [:],
        limits: UploadLimits = UploadLimits()
    ) async throws -> (plan: Plan, report: JobReport) {
        let (plan, job, _) = try await job(bundle, systems, given: given, limits: limits)
        return (plan, try await job.run())
    }

    private func codes(_ report: JobReport) -> [String: Int] {
        Dictionary(report.undeliveredUploadCounts.map { ($0.key.code, $0.value) }, uniquingKeysWith: +)
    }

    private func paths(_ server: LoopbackServer) async throws -> [String] {
        try await server.report().requests.map(\.path)
    }

    /// Returns the number of delivered records and of uploads in flight in a ledger.
    private func counts(_ view: LedgerView) throws -> (delivered: Int, inFlight: Int) {
        let counts = try view.overview(today: 0, knowing: ProbeSystem.table).counts.values
        return (counts.reduce(0) { $0 + $1.deliveredCount }, counts.reduce(0) { $0 + $1.inFlightCount })
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
        #expect(report.deliveredRecordCount == 3 && report.failure == nil)
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
        #expect(report.deliveredRecordCount == 2 && report.failure == nil)
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
        #expect(first.deliveredRecordCount == 1 && first.failure == nil)
        #expect(codes(first) == ["status-429": 1, "earlier-upload-failed": 1, "server-left-alone": 1])
        #expect(try await server.report().total == 1)
        #expect(try await other.report().total == 1)
        // The next job sends the rest to the other server.
        let (plan, second) = try await run(bundle, systems)
        #expect(plan.pauses.map(\.endpoint) == [server.address])
        #expect([Disposition.serverPause, .send, .delivered].map { plan.count($0) } == [2, 1, 1])
        #expect(second.deliveredRecordCount == 1 && second.undeliveredUploadCounts.isEmpty)
        #expect(try await server.report().total == 1)
        #expect(try await other.report().total == 2)
    }

    // MARK: Instructions

    /// Three records of one client.
    private let threeRecords = (1...3).map { record("\($0)", "hello", client: "C", minute: $0) }

    @Test func uploadIsSentAgainIfTheBodyRequiresIt() async throws {
        let server = try LoopbackServer()
        try await server.setRules(#"[{"status":200,"text":"{\"retry\":0}","times":2}]"#)
        let (_, report) = try await run(
            try await bundle([Self.record("1", "hello", client: "C", minute: 0)]),
            ProbeSystem.makeTable(endpoint: server.address))
        #expect(report.deliveredRecordCount == 1 && report.undeliveredUploadCounts.isEmpty && report.failure == nil)
        #expect(try await server.report().total == 3)
        #expect(try counts(LedgerView(path: folder("ledger"))) == (1, 0))
    }

    @Test func longRetryDelayLeavesTheClientForALaterJob() async throws {
        let server = try LoopbackServer()
        try await server.setRules(#"[{"status":200,"text":"{\"retry\":3600}","times":1}]"#)
        let bundle = try await bundle([
            Self.record("1", "hello", client: "C", minute: 0), Self.record("2", "hello", client: "C", minute: 1),
            Self.record("3", "hello", client: "D", minute: 0),
        ])
        let systems = ProbeSystem.makeTable(endpoint: server.address)
        let (_, first) = try await run(bundle, systems)
        // The client whose upload is delayed has to wait, but not the other one.
        #expect(first.deliveredRecordCount + first.undeliveredUploadCounts.values.reduce(0, +) == 3)
        #expect([1, 2].contains(first.deliveredRecordCount) && first.failure == nil)
        #expect(first.undeliveredUploadCounts.keys.contains { $0.code == "status-200" })
        let (plan, second) = try await run(bundle, systems)
        #expect(plan.pauses.isEmpty)
        #expect(first.deliveredRecordCount + second.deliveredRecordCount == 3)
        #expect(second.undeliveredUploadCounts.isEmpty)
    }

    @Test func clientContinuesAfterTheRequiredDelay() async throws {
        let server = try LoopbackServer()
        try await server.setRules(#"[{"status":200,"text":"{\"next\":0.001}"}]"#)
        let (_, report) = try await run(
            try await bundle(threeRecords), ProbeSystem.makeTable(endpoint: server.address))
        #expect(report.deliveredRecordCount == 3 && report.undeliveredUploadCounts.isEmpty && report.failure == nil)
        #expect(try await paths(server) == (1...3).map { "/submit/hello/\($0)" })
    }

    @Test func longDelayLeavesTheOtherUploadsOfTheClient() async throws {
        let server = try LoopbackServer()
        try await server.setRules(#"[{"path":"/submit/hello/1","status":200,"text":"{\"next\":30.5}"}]"#)
        let bundle = try await bundle(threeRecords + [Self.record("4", "hello", client: "D", minute: 9)])
        let systems = ProbeSystem.makeTable(endpoint: server.address)
        let (_, first) = try await run(bundle, systems)
        #expect(first.deliveredRecordCount == 2 && first.refusedRecordCount == 0 && first.failure == nil)
        #expect(codes(first) == ["client-paused": 2])
        #expect(try counts(LedgerView(path: folder("ledger"))) == (2, 0))
        let (_, second) = try await run(bundle, systems)
        #expect(second.deliveredRecordCount == 2 && second.undeliveredUploadCounts.isEmpty)
        #expect(try await server.report().total == 4)
    }

    @Test func outcomeIsStoredBeforeADelayThatCancellationEnds() async throws {
        let server = try LoopbackServer()
        try await server.setRules(#"[{"status":200,"text":"{\"next\":1000000}"}]"#)
        let (_, job, ledger) = try await job(
            try await bundle(threeRecords), ProbeSystem.makeTable(endpoint: server.address), maximumDelay: 2_000_000)
        let task = Task { try await job.run() }
        while try counts(ledger.view).delivered < 1 { try await Task.sleep(for: .milliseconds(5)) }
        task.cancel()
        let report = try await task.value
        #expect(report.wasStopped && report.deliveredRecordCount == 1 && report.failure == nil)
        #expect(codes(report) == ["job-stopped": 2])
        #expect(try counts(ledger.view) == (1, 0))
        #expect(try await server.report().total == 1)
    }

    // MARK: Ended clients

    private func summary(_ plan: Plan, _ report: JobReport) -> JobSummary {
        JobSummary(
            plan: plan.withholdingRecords(ofClientsEndedIn: report), report: report, failure: nil,
            settingHint: { _ in "" }, pauses: [])
    }

    private let endedPhrase = "probe: the server accepts nothing more of this client"

    @Test func endedClientSendsNothingMore() async throws {
        let server = try LoopbackServer()
        try await server.setRules(#"[{"path":"/submit/hello/2","status":200,"text":"{\"ends\":true}"}]"#)
        let bundle = try await bundle(
            threeRecords + [
                Self.record("4", "hello", client: "c", minute: 4), Self.record("5", "hello", client: "D", minute: 0),
            ])
        let systems = ProbeSystem.makeTable(endpoint: server.address)
        let (firstPlan, first) = try await run(bundle, systems)
        #expect(first.deliveredRecordCount == 3 && first.failure == nil)
        #expect(codes(first) == ["deletion-requested": 2])
        let summary = summary(firstPlan, first)
        #expect(summary.exitStatus == nil)
        #expect(
            summary.summaryLine
                == "5 records: delivered 3, deletion-requested 2; \(endedPhrase) (2 uploads); nothing is left")

        // The status of the ledger and of the bundle shows nothing that waits.
        let view = try LedgerView(path: folder("ledger"))
        let overview = try view.overview(today: 0, knowing: systems)
        #expect(overview.counts.values.allSatisfy { $0.waitingCounts.isEmpty && $0.inFlightCount == 0 })
        #expect(overview.waitingBundles.isEmpty)
        let statuses = PoolStatus(of: firstPlan.pool, try view.state(of: firstPlan.pool, today: 0))
        let status = try #require(BundleStatus.allStatuses(of: statuses).first)
        #expect(status.isDone && status.deliveredCount == 3 && status.excludedCount == 2)

        // Later jobs withhold the records, until the answered record is forgotten.
        let (secondPlan, second) = try await run(bundle, systems)
        #expect([Disposition.deletionRequested, .delivered].map { secondPlan.count($0) } == [2, 3])
        #expect(second.attemptedUploadCount == 0)
        #expect(try await server.report().total == 3)
        #expect(try Ledger(path: folder("ledger"), now: now).forget(["2"]) == ["2": 1])
        try await server.setRules()
        let (_, third) = try await run(bundle, systems)
        #expect(third.deliveredRecordCount == 3 && third.undeliveredUploadCounts.isEmpty)
        #expect(try await server.report().total == 6)
    }

    @Test func recordsBeyondTheLimitsOfAnEndedClientAreWithheld() async throws {
        let server = try LoopbackServer()
        try await server.setRules(#"[{"status":200,"text":"{\"ends\":true}"}]"#)
        let (plan, report) = try await run(
            try await bundle(threeRecords), ProbeSystem.makeTable(endpoint: server.address),
            limits: UploadLimits(daily: nil, perType: 2))
        #expect([Disposition.send, .typeLimit].map { plan.count($0) } == [2, 1])
        let summary = summary(plan, report)
        #expect(summary.exitStatus == nil)
        #expect(
            summary.summaryLine
                == "3 records: delivered 1, deletion-requested 2; \(endedPhrase) (1 upload); nothing is left")
    }

    @Test func unsettledUploadOfAnEndedClientIsWithheld() async throws {
        let server = try LoopbackServer()
        try await server.setRules(#"[{"status":503,"text":"{\"ends\":true}"}]"#)
        let bundle = try await bundle(threeRecords)
        let systems = ProbeSystem.makeTable(endpoint: server.address)
        let (plan, report) = try await run(bundle, systems)
        #expect(codes(report) == ["deletion-requested": 3])
        #expect(summary(plan, report).exitStatus == nil)
        #expect(try counts(LedgerView(path: folder("ledger"))) == (0, 0))
        try await server.setRules()
        let (second, _) = try await run(bundle, systems)
        #expect(second.count(.deletionRequested) == 3)
    }

    @Test func recordsWithPrecedenceAreSentForAnEndedClient() async throws {
        let server = try LoopbackServer()
        try await server.setRules(#"[{"path":"/submit/goodbye/1","status":200,"text":"{\"ends\":true}"}]"#)
        let bundle = try await bundle([
            Self.record("1", "goodbye", client: "C", minute: 5), Self.record("2", "goodbye", client: "C", minute: 6),
            Self.record("3", "hello", client: "C", minute: 0),
        ])
        let (plan, report) = try await run(bundle, ProbeSystem.makeTable(endpoint: server.address))
        #expect(report.deliveredRecordCount == 2 && codes(report) == ["deletion-requested": 1])
        #expect(try await paths(server) == ["/submit/goodbye/1", "/submit/goodbye/2"])
        #expect(summary(plan, report).exitStatus == nil)
    }

    @Test func recordsWithoutClientAreNotEnded() async throws {
        let server = try LoopbackServer()
        try await server.setRules(#"[{"status":200,"text":"{\"ends\":true}"}]"#)
        let bundle = try await bundle((1...3).map { Self.record("\($0)", "hello", client: nil, minute: $0) })
        let (_, report) = try await run(bundle, ProbeSystem.makeTable(endpoint: server.address))
        #expect(
            report.deliveredRecordCount == 3 && report.undeliveredUploadCounts.isEmpty && report.endedClients.isEmpty)
    }
}
