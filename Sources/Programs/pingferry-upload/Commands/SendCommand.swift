import ArgumentParser
import Console
import Delivery
import FoundationEssentials
import Parallel
import Systems
import Telemetry

/// `send`: one job.
struct SendCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send",
        abstract: "Upload what may go today; the command that is meant where none is named.",
        discussion: """
            All bundles are verified first: nothing is sent if one is damaged. Then each client's records go in the order \
            of their time, clients beside each other. What waits does so for a reason, which --dry-run shows without \
            network, and without changing the ledger:
              pingferry-upload send --dry-run monday.tar.zst tuesday.tar.zst

            daily limit, per-type limit: goes with a later job. sent in part: a list of events that takes more uploads \
            than the limits leave; the rest goes with a later job. same id sent lately: two payloads under one document id go \
            15 minutes apart. server asked to wait: goes when the time is over that the server asked for (Retry-After, at \
            most 7 days; forget with the server's address ends it). missing credential: goes once it is there. held: see release. too old: see --max-age. \
            delivered before, refused before: the ledger knows; see retry and forget. nothing left, events in another \
            request: of a list of events, each event goes once. duplicate: stands in the bundles twice. deletion-requested: the \
            client asked for the deletion of its data, and nothing else of it goes any more.

            With --json, held counts records by code (one held for several reasons counts for each), and missingCredentials \
            has an entry for each account: account (an account id or app id; empty where the record names none), development (whether it wants the development key), records, system. Each of a plan's waits has a \
            reason, and held (its codes) or account and development where it is one of these.

            Credentials are looked up by account or app id, in the environment (\(CredentialHelp.variables)) or in a file of \
            mode 0600:
            \(CredentialHelp.file)
            """)

    @Argument(help: ArgumentHelp("Bundles.", valueName: "bundle"))
    var bundles: [String]

    @Flag(help: "Print the plan and send nothing.")
    var dryRun = false

    @OptionGroup(title: "Limits") var limits: LimitOptions
    @OptionGroup(title: "Sending") var sending: SendingOptions
    @OptionGroup(title: "Ledger") var ledger: LedgerOptions
    @OptionGroup(title: "Common options") var common: CommonOptions

    func run() async throws {
        try await reporting {
            if dryRun { try await printPlan() } else { try await send() }
        }
    }

    private func printPlan() async throws {
        let credentials = try sending.credentials(environment: ProcessInfo.processInfo.environment)
        let view = try ledgerView()
        let intake = try await intake(isReleased: try view?.releases())
        let report = PlanReport(
            plan: try plan(intake, view, credentials), pool: intake.pool, nameToSet: credentials.nameToSet)
        if common.json {
            try report.printJSON(intake.source)
        } else if !common.quiet {
            try report.printTable()
        }
    }

    /// Plans for the present instant, which is after the bundles were read: that may take its time.
    private func plan(_ intake: BundleIntake, _ view: LedgerView?, _ credentials: Credentials) throws -> Plan {
        let now = SystemClock.now
        let state = try view?.state(of: intake.pool, today: ledger.days.day(of: now)) ?? LedgerState()
        var rules = limits.rules(ledger.days)
        rules.endpoints = try sending.addresses()
        return Planner.plan(intake.pool, state, rules: rules, now: now, hasCredential: credentials.isKnown)
    }

    /// A ledger that does not exist yet knows nothing.
    private func ledgerView() throws -> LedgerView? {
        do {
            return try LedgerView(path: try ledger.path())
        } catch LedgerError.missing {
            return nil
        }
    }

    private func send() async throws {
        let settings = try sending.jobSettings(
            agent: "Pingferry/\(PingferryUpload.version)", environment: ProcessInfo.processInfo.environment)
        // First, so that a second job ends before it has read all bundles.
        let ledger = try ledger.open()
        let intake = try await intake(isReleased: try ledger.view.releases())
        let plan = try plan(intake, ledger.view, settings.credentials)
        try ledger.begin(plan)
        let job = Job(plan: plan, source: intake.source, ledger: ledger, settings: settings)
        let report = try await Sending.run(job)
        let summary = JobSummary(
            plan: plan, report: report, failure: report.failure.map { CommandError(whileSending: $0) },
            nameToSet: settings.credentials.nameToSet)
        try summary.print(isQuiet: common.quiet, asJSON: common.json)
        if let failure = summary.failure { throw failure }
        if let status = summary.status { throw ExitCode(status.rawValue) }
    }

    private func intake(isReleased: ((_ id: String, _ code: String) -> Bool)?) async throws -> BundleIntake {
        let progress = ProgressLine("verifying", isQuiet: common.quiet)
        defer { progress.clear() }
        let limit = JobLimit(jobs: ProcessInfo.processInfo.activeProcessorCount)
        return try await BundleIntake(
            bundles, knowing: Systems.table, limit: limit, isReleased: isReleased ?? { _, _ in false }
        ) {
            progress.add(bytes: $0)
        }
    }
}
