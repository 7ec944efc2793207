import ArgumentParser
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
            are listed. The command can run at the same time as a job.
              pingferry-upload status
              pingferry-upload status --refused

            With bundles, prints a line for each: done, or the records that are left and their reasons. A bundle is done if no \
            job could send any more of its records, and none is refused. Held records do not count. The exit status is 0 if all \
            bundles are done, 1 if records need your action (refused, too old, a missing credential), and 75 if later jobs will \
            send the rest. --ids lists the records that are not delivered, with the ids for retry, release and forget.
              pingferry-upload status bundles/*.tar.zst && rm bundles/*.tar.zst
              pingferry-upload status --ids monday.tar.zst

            With --quiet, prints nothing if there is nothing to report. Otherwise it prints one line, or one line for each \
            bundle that is not done.
            """)

    @Argument(
        help: ArgumentHelp("The bundles whose status is shown.", valueName: "bundle"),
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

    func run() async throws {
        try await reportingErrors {
            if bundles.isEmpty { try printLedger() } else { try await printBundles() }
        }
    }

    private func printLedger() throws {
        let now = SystemClock.now
        let today = ledger.dayRule.day(of: now)
        let overview = try LedgerView(path: try ledger.path()).overview(today: today, knowing: Systems.table)
        let report = StatusReport(overview: overview, shownClients: Set(client.map { $0.lowercased() }), now: now)
        if common.json {
            try Terminal.print(report.json)
        } else if common.quiet {
            if report.needsAttention { try Terminal.print(report.summaryLine) }
        } else if refused || ids {
            try report.printRefusals()
        } else {
            try report.printTable()
        }
    }

    // MARK: Bundles

    /// Prints the status of each bundle, with only one bundle open at a time because each may need much memory.
    private func printBundles() async throws {
        let view = try LedgerView(path: try ledger.path())
        var unusable: [UnusableBundleError] = []
        var isDone = true
        var canFinishUnattended = true
        var results: [[UInt8]] = []
        for path in bundles {
            do {
                let report = try await statusReport(onBundleAt: path, view)
                isDone = isDone && report.status.isDone
                canFinishUnattended = canFinishUnattended && report.status.canFinishUnattended
                if common.json { results.append(report.json.bytes) } else { try print(report) }
            } catch let error as UnusableBundlesError {
                error.bundles.report()
                unusable += error.bundles
                results.append(Self.unusableBundleJSON(path: path))
            }
        }
        if common.json {
            var object = CanonicalObject()
            object.set("bundles", elements: results)
            try Terminal.print(object)
        }
        if let status = unusable.exitStatus { throw ExitCode(status.rawValue) }
        guard isDone else { throw ExitCode((canFinishUnattended ? ExitStatus.tryLater : .incomplete).rawValue) }
    }

    private func statusReport(onBundleAt path: String, _ view: LedgerView) async throws -> BundleStatusReport {
        let verified = try await common.verifyBundles(at: [path], isReleased: try view.releaseCheck())
        let pool = verified.pool
        let state = try view.state(of: pool, today: ledger.dayRule.day(of: SystemClock.now))
        let statuses = RecordStatus.allStatuses(of: pool, state, try view.recordedReasons(of: pool))
        var report = BundleStatusReport(status: BundleStatus.allStatuses(of: pool, statuses)[0])
        guard ids else { return report }
        for (index, status) in statuses.enumerated() {
            guard let reason = status.reason else { continue }
            let record = try verified.source.record(at: pool.location(of: index))
            report.undeliveredRecords.append(UndeliveredRecord(record: record, reason: reason))
        }
        return report
    }

    private func print(_ report: BundleStatusReport) throws {
        guard !common.quiet || !report.status.isDone else { return }
        try Terminal.print(report.statusLine)
        guard !common.quiet else { return }
        for line in report.undeliveredRecords.flatMap(\.lines) { try Terminal.print(line) }
    }

    private static func unusableBundleJSON(path: String) -> [UInt8] {
        var object = CanonicalObject()
        object.set("done", boolean: false)
        object.set("path", string: path)
        object.set("usable", boolean: false)
        return object.bytes
    }
}
