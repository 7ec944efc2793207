import ArgumentParser
import Console
import Delivery
import JSONText
import Telemetry

/// The command `status`, which reports on the ledger or on bundles.
struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show what was delivered and refused, is in flight, and waits.",
        discussion: """
            Counts by client and type, and what each client has had of today's quota. What waits is what jobs left, each \
            record as the last job found that saw it. A server that asked to be left alone for a while (Retry-After) is \
            named. Can be run while a job is at work.
              pingferry-upload status
              pingferry-upload status --refused

            With bundles, a line for each: done, or what is left and why. A bundle is done when no job could send anything \
            more of it, and nothing of it was refused; what is held stays in it. The exit status is 0 only if all are done; 1 if \
            something waits for somebody (refused, too old, a credential), 75 if later jobs do the rest. --ids lists the \
            records that are not delivered, with the ids that retry, release and forget want.
              pingferry-upload status bundles/*.tar.zst && rm bundles/*.tar.zst
              pingferry-upload status --ids monday.tar.zst

            With --quiet it says nothing when all is well, and one line otherwise, or one for each bundle that is not done.
            """)

    @Argument(
        help: ArgumentHelp("Bundles, of which to say whether they have done their work.", valueName: "bundle"),
        completion: .file())
    var bundles: [String] = []

    @Option(help: ArgumentHelp("Only this client, in either letter case. (repeatable)", valueName: "id"))
    var client: [String] = []

    @Flag(help: "List the records that were refused, with the server's answers.")
    var refused = false

    @Flag(
        help: "List ids: of a bundle's records that are not delivered, or without bundles of those that were refused.")
    var ids = false

    @OptionGroup(title: "Ledger") var ledger: LedgerOptions
    @OptionGroup(title: "Common options") var common: CommonOptions

    func validate() throws {
        try CommonOptions.rejectStandardInput(in: bundles)
        guard bundles.isEmpty || (client.isEmpty && !refused) else {
            throw ValidationError("--client and --refused go without bundles; --ids lists what is left of a bundle")
        }
    }

    func run() async throws {
        try await reportingErrors {
            if bundles.isEmpty { try printLedger() } else { try await printBundles() }
        }
    }

    private func printLedger() throws {
        let now = SystemClock.now
        let today = ledger.days.day(of: now)
        let overview = try LedgerView(path: try ledger.path()).overview(today: today)
        let report = StatusReport(overview: overview, clients: Set(client.map { $0.lowercased() }), now: now)
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

    /// Prints the status of each bundle.
    ///
    /// Only one bundle is open at a time, because each may need much memory.
    private func printBundles() async throws {
        let view = try LedgerView(path: try ledger.path())
        var unusable: [UnusableBundleError] = []
        var isDone = true
        var canFinishUnattended = true
        var results: [[UInt8]] = []
        for path in bundles {
            do {
                let report = try await report(on: path, view)
                isDone = isDone && report.status.isDone
                canFinishUnattended = canFinishUnattended && report.status.canFinishUnattended
                if common.json { results.append(report.json.bytes) } else { try print(report) }
            } catch let error as UnusableBundlesError {
                error.bundles.report()
                unusable += error.bundles
                results.append(Self.json(of: path))
            }
        }
        if common.json {
            var object = CanonicalObject()
            object.set("bundles", elements: results)
            try Terminal.print(object)
        }
        if let status = unusable.status { throw ExitCode(status.rawValue) }
        guard isDone else { throw ExitCode((canFinishUnattended ? ExitStatus.tryLater : .incomplete).rawValue) }
    }

    private func report(on path: String, _ view: LedgerView) async throws -> BundleStatusReport {
        let intake = try await common.intake([path], isReleased: try view.releases())
        let pool = intake.pool
        let state = try view.state(of: pool, today: ledger.days.day(of: SystemClock.now))
        let statuses = RecordStatus.all(of: pool, state, try view.recordedReasons(of: pool))
        var report = BundleStatusReport(status: BundleStatus.all(of: pool, statuses)[0])
        guard ids else { return report }
        for (index, status) in statuses.enumerated() {
            guard let reason = status.reason else { continue }
            let record = try intake.source.record(at: pool.location(of: index))
            report.records.append(UndeliveredRecord(record: record, reason: reason))
        }
        return report
    }

    private func print(_ report: BundleStatusReport) throws {
        guard !common.quiet || !report.status.isDone else { return }
        try Terminal.print(report.line)
        guard !common.quiet else { return }
        for line in report.records.flatMap(\.lines) { try Terminal.print(line) }
    }

    private static func json(of path: String) -> [UInt8] {
        var object = CanonicalObject()
        object.set("done", boolean: false)
        object.set("path", string: path)
        object.set("usable", boolean: false)
        return object.bytes
    }
}
