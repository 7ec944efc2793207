import ArgumentParser
import Bundle
import Console
import Delivery
import JSONText
import Systems
import Telemetry

/// The command `status`, which reports on the ledger or on bundles.
struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show which records were delivered or refused, are in flight, or wait.",
        discussion: """
            Prints the number of records for each client and type, and the part of today's quota that each client has used. \
            Waiting records are shown with the reason that the last job found. Servers that requested a pause (Retry-After) \
            are listed, and so are records that were set aside, each with its last answer. The command can run at the same time as \
            a job.
              pingferry-upload status
              pingferry-upload status --refused

            With bundles, prints a line for each: done, or the records that are left and their reasons. A bundle is done if no \
            job could send any more of its records, and none is refused. Held records do not count. The exit status is 0 if all \
            bundles are done, 1 if records need your action (refused, set aside, a missing credential), and 75 if later jobs will \
            send the rest. Lines below it state for records that are withdrawn, and for copies, which file of which capture \
            decided (opted-out, forgotten, deletion-requested), or which copy; with --json, these are in facts. Give all bundles \
            of a job together, because a withdrawal in one decides about records of the others. --ids lists the records that \
            are not delivered, with the ids for retry, release and forget.
              pingferry-upload status bundles && rm bundles/*.tar.zst
              pingferry-upload status --ids monday.tar.zst

            With --quiet, prints nothing if there is nothing to report. Otherwise it prints one line, or one line for each \
            bundle that is not done.
            """)

    @Argument(
        help: ArgumentHelp("The bundles whose status is shown, or folders with bundles.", valueName: "bundle"),
        completion: .file())
    var bundles: [String] = []

    @Option(help: ArgumentHelp("Show only this client. Letter case is ignored. (repeatable)", valueName: "id"))
    var client: [String] = []

    @Flag(help: "List the refused records with the server's answers.")
    var refused = false

    @Flag(
        help: "List the ids of undelivered records in the bundles or, without bundles, of refused records.")
    var ids = false

    @OptionGroup(title: "Ledger") var ledger: LedgerOptions
    @OptionGroup(title: "Common options") var common: CommonOptions

    func validate() throws {
        try CommonOptions.rejectStandardInput(in: bundles)
        guard bundles.isEmpty || (client.isEmpty && !refused) else {
            throw ValidationError(
                "--client and --refused cannot be used with bundles; use --ids to list the records that are left")
        }
    }

    mutating func run() async throws {
        let isLedgerShown = bundles.isEmpty
        bundles = try await reportingErrors { try bundles.flatMap(BundleFile.paths) }
        try await reportingErrors {
            if let config = ledger.config.first, !common.quiet, !common.json {
                for option in try ConfigurationFile(path: config).options {
                    try Terminal.print("\(config): \(option.printableArgument)")
                }
            }
            if isLedgerShown { try printLedger() } else { try await printBundles() }
        }
    }

    private func printLedger() throws {
        let now = SystemClock.now
        let today = ledger.dayRule.day(of: now)
        let view = try LedgerView(path: try ledger.path())
        if let missing = try view.missingJobs() {
            LedgerError.older(path: view.path, missing).report(as: PingferryUpload.name)
        }
        let overview = try view.overview(today: today, knowing: Systems.table)
        let report = StatusReport(overview: overview, shownClients: Set(client.map { ClientID($0) }), now: now)
        if common.json {
            try JSONResult.print(report.json, as: .status)
        } else if common.quiet {
            if report.needsAttention { try Terminal.print(report.summaryLine) }
        } else if refused || ids {
            try report.printRefusals()
        } else {
            try report.printTable()
        }
    }

    // MARK: Bundles

    /// Prints the status of each bundle.
    ///
    /// All bundles are read together, because a withdrawal or a copy in one of them decides about records of the others.
    private func printBundles() async throws {
        let view = try LedgerView(path: try ledger.path())
        let verified = try await CommonOptions.verifyBundles(
            at: bundles, keepsGoing: true, isQuiet: common.quiet, isReleased: try view.releaseCheck())
        let reports = try reports(on: verified, view)
        var (remaining, unusable) = (reports[...], verified.unusableBundles[...])
        var results: [CanonicalObject] = []
        for path in bundles {
            if let bundle = unusable.first, bundle.path == path {
                [bundle].report()
                unusable.removeFirst()
                results.append(["done": false, "path": path, "usable": false])
            } else if let report = remaining.popFirst() {
                if common.json { results.append(report.json) } else { try print(report) }
            }
        }
        if common.json { try JSONResult.print(["bundles": results], as: .bundleStatus) }
        if let status = verified.unusableBundles.exitStatus { throw ExitCode(status.rawValue) }
        guard reports.allSatisfy(\.status.isDone) else {
            let canFinishUnattended = reports.allSatisfy(\.status.canFinishUnattended)
            throw ExitCode((canFinishUnattended ? ExitStatus.tryLater : .incomplete).rawValue)
        }
    }

    /// Returns a report on each usable bundle, in order.
    private func reports(on verified: VerifiedBundles, _ view: LedgerView) throws -> [BundleStatusReport] {
        let pool = verified.pool
        let state = try view.state(of: pool, today: ledger.today)
        let recorded = try view.recordedReasons(of: pool)
        let status = PoolStatus(of: pool, state, recorded)
        var reports = BundleStatus.allStatuses(of: status).map { BundleStatusReport(status: $0) }
        guard ids else { return reports }
        for (index, record) in status.records.enumerated() {
            guard let reason = record.reason else { continue }
            let location = pool.location(of: index)
            reports[Int(location.bundleIndex)].undeliveredRecords.append(
                UndeliveredRecord(
                    record: try verified.source.record(at: location), reason: reason,
                    fact: status.decidingFact(of: index),
                    lastAnswer: recorded.lastAnswer(ofRecordAt: index, in: pool)))
        }
        return reports
    }

    private func print(_ report: BundleStatusReport) throws {
        guard !common.quiet || !report.status.isDone else { return }
        try Terminal.print(report.statusLine)
        guard !common.quiet else { return }
        for line in report.factLines { try Terminal.print(line) }
        for line in report.undeliveredRecords.flatMap(\.lines) { try Terminal.print(line) }
    }
}
