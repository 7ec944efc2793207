import ArgumentParser
import Bundle
import Bytes
import Console
import Delivery
import Essentials
import Files
import Systems
import Telemetry

/// The command `send`, which runs one job.
struct SendCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send",
        abstract: "Upload the records that may be sent today (the default command).",
        discussion: """
            All bundles are verified first. If one is damaged, nothing is sent, unless --keep-going skips it. Then the records \
            of each client are sent in the order of their time, and several clients are served concurrently. Records that are \
            not sent have a reason, which --dry-run shows without using the network or changing the ledger:
              pingferry-upload send --dry-run monday.tar.zst tuesday.tar.zst

            With --signers, nothing is sent unless each bundle was signed by someone in that list. With --keep-going, bundles \
            without such a signature are skipped. What is read from a bundle later is exactly what was signed:
              ssh-keygen -Y sign -n \(AllowedSigners.namespace) -f KEY monday.tar.zst
              pingferry-upload --signers /etc/pingferry/signers monday.tar.zst

            With --quiet, a successful job prints nothing, and any other job prints one line. Each job reports the refused \
            records and exits with status 1 until retry or forget resolves them. --move-done moves the bundles that are done: \
            nothing is left to send, and nothing is refused.

            Held records that you can release are reported by each job, with exit status 1, until you release or forget them. \
            This does not depend on the bundles of the job. --ignore-held delivered excludes the records that are held only \
            as delivered.
              pingferry-upload --quiet --keep-going --move-done done --metrics /var/lib/node_exporter/pingferry.prom ./*.tar.zst

            --move-done moves a bundle with its volumes, their list and its signature. Of a symbolic link, the file to which it \
            leads is moved under the name of the link, and the link is removed. --metrics replaces only a file that is empty or \
            contains metrics. No output may be a file that the job reads or writes otherwise: the exit status is then 73, and \
            nothing is sent.

            With --ping-url, a monitoring service such as Healthchecks raises an alarm if a job fails or does not run: the job \
            sends POST requests to URL/start at the start and to URL/STATUS at the end, with its exit status and its summary. \
            Both use the proxy and the certificate authorities of the uploads. If the service does not answer within 10 \
            seconds, one line is printed, even with --quiet, and nothing else changes. Everyone who knows the address can \
            report jobs, so store it in a file with mode 0600. It is never printed:
              pingferry-upload --quiet --ping-url-file /etc/pingferry/ping-url ./*.tar.zst

            --receipt writes a file that states the outcome of the records in the bundles after the job, also if the job failed \
            or was stopped by a signal. It is written for every job that begins to send and can use a bundle, and its path is \
            checked before that. \
            The command receipt makes one at any other time:
              pingferry-upload send --receipt night.json --receipt-records monday.tar.zst

            If a bundle is split into volumes, give the first one, night.tar.zst.001. The others must be in the same folder. \
            --move-done moves all volumes and their list. Of a folder, all bundles and first volumes in it are sent.

            A record that alone failed with server errors in 3 jobs, while others of its system were delivered, is set aside, so \
            that the other records of its client go on. status names it. If the ledger is an older copy of itself, nothing is \
            sent, because records would be sent twice: see the command ledger.

            The reasons in a summary:
              daily limit, per-type limit: a later job sends the record.
              sent in part: a list of events needs more uploads than the limits allow; a later job sends the rest.
              same id sent lately: two payloads with the same document id are sent at least 15 minutes apart.
              server asked to wait: the server requested a pause (Retry-After, at most 7 days); forget with its address ends it.
              missing credential: the record is sent once the credential is set.
              held: see release.
              too old: see --max-age. Such records are not sent, and their bundles can be done.
              set aside: see status, retry and forget --for-good.
              delivered before, refused before, given up: the ledger has the outcome; see retry and forget.
              nothing left, events in another request: each event of a list is sent only once.
              duplicate: the bundles contain the record twice. A copy that was delivered, withdrawn or is not held is used.
              held: opted-out: the person has switched off usage data; only release sends the data anyway.
              held: forgotten: the user asked the service to forget the device; the record is never sent.
              deletion-requested: the client or profile requested the deletion of its data, or its server accepts nothing \
            more of it, so that its other records are not sent.

            The last three apply to all records of the client, in any bundle of the job. A later job knows forgotten and \
            deletion-requested from the ledger. --dry-run and status BUNDLE print which file of which capture decided, or which \
            copy, for example "forgotten: tue, Library/Preferences/com.example.shop.plist (3)" or "held by a copy in tuesday: \
            opted-out (1)"; with --json, facts lists them, and fact states it for a record.

            If a server refuses 25 uploads of a job with the same status and reason, the job stops sending to it, because \
            refused uploads count against the limits. --refusals 100 changes the number. The next job sends the rest.

            With --json, reasons is a list: each has a stable code, a detail (the hold codes, or the account of a missing \
            credential), the number of records and a text. held counts records by code; a record with several codes counts for \
            each. missingCredentials has an entry for each account: account (an account id or app id; empty if the record has \
            none), development (whether the development key is needed), records and system. undelivered has the reasons why \
            planned uploads were not delivered (code refusal-limit: after equal refusals; client-paused: the server requires a \
            long delay between the uploads of the client; deletion-requested: the server accepts nothing more of the client). \
            bundles states for each bundle whether it is done.

            Credentials are looked up by account id or app id, in the environment (\(CredentialHelp.variables)) or in a file \
            with mode 0600:
            \(CredentialHelp.file)
            """)

    @Argument(
        help: ArgumentHelp("The bundles to send, or folders with bundles.", valueName: "bundle"), completion: .file())
    var bundles: [String]

    @Flag(name: [.customShort("n"), .long], help: "Print the plan without sending anything.")
    var dryRun = false

    @Flag(
        help:
            "Skip bundles that are damaged, unfinished or not signed, and send the others. The exit status is still 65."
    )
    var keepGoing = false

    @Option(
        help: ArgumentHelp(
            "Move each bundle that is done to this folder, which must be on the same file system.",
            valueName: "folder"), completion: .directory)
    var moveDone: String?

    @Option(
        help: ArgumentHelp(
            "Do not report records that are held only for this reason. (repeatable)",
            valueName: "code"), completion: .list(HoldCodes.releasable(knowing: Systems.table)))
    var ignoreHeld: [String] = []

    @Option(
        help: ArgumentHelp(
            "Write metrics for Prometheus: the end of the last job, and the delivered, refused and waiting records.",
            valueName: "file"), completion: .file())
    var metrics: String?

    @Option(
        help: ArgumentHelp(
            "Stop the job after this time, such as 6h or 90m, and leave the rest for the next one.", valueName: "age"))
    var maxDuration: Age?

    @Option(
        help: ArgumentHelp(
            "Send only at this time of day in --timezone, such as 22:00-06:00.", valueName: "hh:mm-hh:mm"))
    var window: TimeWindow?

    @OptionGroup var receipts: ReceiptOptions
    @OptionGroup var receiptContents: DeliveryReceiptOptions
    @OptionGroup(title: "Signatures") var signing: SignerOptions
    @OptionGroup(title: "Limits") var limits: LimitOptions
    @OptionGroup(title: "Sending") var sending: SendingOptions
    @OptionGroup(title: "Monitoring") var monitoring: MonitoringOptions
    @OptionGroup(title: "Ledger") var ledger: LedgerOptions

    @Flag(help: "Fail if the ledger does not exist, because all records would be sent again without it.")
    var ledgerMustExist = false

    @Flag(help: "Send although the ledger is an older copy, so that some records may be sent twice.")
    var acceptOlderLedger = false

    @OptionGroup(title: "Common options") var common: CommonOptions

    /// The names of options that cannot be used with `--dry-run`, which ignores them in a configuration file.
    static let namesUnusedByDryRun: Set<CapturedText> = [
        "move-done", "metrics", "receipt", "receipt-records", "ping-url", "ping-url-file",
    ]

    func validate() throws {
        try CommonOptions.rejectStandardInput(in: bundles)
        let commands = PingferryUpload.configuration.subcommands.compactMap { $0.configuration.commandName }
        if let command = bundles.first(where: { commands.contains($0) && FileIdentity(path: $0) == nil }) {
            throw ValidationError(
                "\(command) is a command, so write it before its options: \(PingferryUpload.name) \(command) …")
        }
        let codes = HoldCodes.releasable(knowing: Systems.table)
        if let unknown = ignoreHeld.first(where: { !codes.contains($0) }) {
            throw ValidationError("--ignore-held must be one of \(codes.joined(separator: ", ")), not \(unknown)")
        }
        guard !dryRun || (moveDone == nil && metrics == nil && receipts.receipt == nil && !monitoring.isGiven) else {
            throw ValidationError(
                "--dry-run cannot be used with --move-done, --metrics, --receipt or --ping-url, because it changes nothing"
            )
        }
        guard receipts.receipt != nil || !receiptContents.receiptRecords else {
            throw ValidationError("--receipt-records requires --receipt")
        }
    }

    mutating func run() async throws {
        var folderError: (any Error)?
        do { bundles = try bundles.flatMap(BundleFile.paths) } catch { folderError = error }
        if let logFile = sending.logFile, !dryRun {
            try await reportingErrors {
                // The messages about a wrong file must not be appended to it.
                try checkFiles()
                try StandardError.append(toFile: logFile) { SystemClock.now.description }
            }
        }
        guard !dryRun else {
            return try await reportingErrors {
                if let folderError { throw folderError }
                try await printPlan()
            }
        }
        // Monitoring and the job replace these signal handlers with their own.
        if receipts.receipt != nil { try await reportingErrors { try DeliveryReceiptOptions.removeFileOnInterrupt() } }
        let monitor = JobMonitor()
        do {
            try await run(monitor, folderError)
        } catch {
            await monitor.finish(status: Self.exitCode(for: error).rawValue)
            throw error
        }
        await monitor.finish(status: 0)
    }

    /// The findings of a job until it ends, for its metrics.
    private struct JobFindings {
        var unusableBundles: [UnusableBundleError] = []
        var undelivered: [UndeliveredReason: Int] = [:]
        /// Whether the metrics file can be replaced.
        var hasCheckedFiles = false
        /// Whether no other job is running.
        var hasLockedLedger = false
    }

    /// Runs the job, or throws `folderError`, and reports the end to the monitoring service and in the metrics.
    private func run(_ monitor: JobMonitor, _ folderError: (any Error)?) async throws {
        let start = SystemClock.now
        var findings = JobFindings()
        var end: ExitCode?
        do {
            try await reportingErrors {
                try await monitor.describingErrors {
                    try await monitor.start(
                        monitoring.service(environment: ProcessInfo.processInfo.environment, sending: sending))
                    try checkFiles()
                    findings.hasCheckedFiles = true
                    if let folderError { throw folderError }
                    try await send(from: start, &findings, monitor)
                }
            }
        } catch let code as ExitCode {
            end = code
        }
        // The metrics of a job that is still running are left unchanged, so that they become old if it does not end.
        let isLockedOut = end?.rawValue == ExitStatus.tryLater.rawValue && !findings.hasLockedLedger
        if let metrics, findings.hasCheckedFiles, !isLockedOut {
            try await reportingErrors {
                try MetricsFile(path: metrics).write(
                    .ended(start: start, end: SystemClock.now, status: end?.rawValue ?? 0), ledger: ledger,
                    unusableBundles: findings.unusableBundles.count, undelivered: findings.undelivered)
            }
        }
        if let end { throw end }
    }

    /// Checks that no output replaces another file of the job, before anything is read, written or sent.
    private func checkFiles() throws {
        let environment = ProcessInfo.processInfo.environment
        let bundleFiles = bundles.flatMap(BundleFile.allPaths)
        var files = CommandFiles()
        files.read(bundleFiles + signing.paths(environment: environment) + sending.paths(environment: environment))
        files.read([monitoring.pingURLFile].compactMap(\.self))
        try ledger.add(to: &files)
        files.write("--receipt", receipts.replacedPaths)
        files.update("--metrics", metrics.map(AtomicOutput.replacedPaths) ?? [])
        files.update("--log-file", [sending.logFile].compactMap(\.self))
        try files.check()
        // Moved files replace no others, but an output must not replace them.
        if let moveDone {
            var outputs = CommandFiles()
            outputs.write("--receipt", receipts.replacedPaths)
            outputs.update("--metrics", metrics.map(AtomicOutput.replacedPaths) ?? [])
            outputs.write("--move-done", bundleFiles.map { "\(moveDone)/\(Path.name(of: $0))" })
            try outputs.check()
        }
        if let metrics { try MetricsFile(path: metrics).requireMetrics() }
    }

    private func printPlan() async throws {
        let credentials = try sending.credentials(environment: ProcessInfo.processInfo.environment)
        let view = try ifExists { try LedgerView(path: try ledger.path()) }
        if let missing = try view?.missingJobs() {
            LedgerError.older(path: try ledger.path(), missing).report(as: PingferryUpload.name)
        }
        let verified = try await verifyBundles(isReleased: try view?.releaseCheck())
        let report = PlanReport(
            plan: try plan(verified, view, credentials), missingParents: verified.missingParents,
            settingHint: credentials.settingHint(for:))
        for fault in common.quiet ? [] : verified.missingParents {
            StandardError.write("\(PingferryUpload.name): \(fault)")
        }
        if common.json {
            try report.printJSON(verified.source)
        } else if !common.quiet {
            try report.printTable()
        }
        if let status = verified.unusableBundles.exitStatus { throw ExitCode(status.rawValue) }
    }

    /// Returns a plan for sending the records at the current time, which may be long after the start of the program.
    private func plan(_ verified: VerifiedBundles, _ view: LedgerView?, _ credentials: Credentials) throws -> Plan {
        let now = SystemClock.now
        let state = try view?.state(of: verified.pool, today: ledger.dayRule.day(of: now)) ?? LedgerState()
        var rules = limits.rules(dayRule: ledger.dayRule)
        rules.servers = try sending.servers()
        return Planner.plan(
            verified.pool, state, rules: rules, now: now, hasCredential: credentials.hasCredential(for:))
    }

    /// Returns the ledger that `open` returns, or `nil` if it does not exist and `--ledger-must-exist` is not given.
    private func ifExists<Opened>(_ open: () throws -> Opened) throws -> Opened? {
        do {
            return try open()
        } catch LedgerError.missing where !ledgerMustExist {
            return nil
        }
    }

    /// Runs the job that began at `start`.
    private func send(from start: Timestamp, _ findings: inout JobFindings, _ monitor: JobMonitor) async throws {
        let deadline = try deadline()
        try sending.requireFileDescriptors(bundles: bundles.count)
        var settings = try sending.jobSettings(environment: ProcessInfo.processInfo.environment)
        // The folder is checked before anything is sent.
        if let moveDone { _ = try DestinationFolder(path: moveDone) }
        let receipt = try receiptOutput()
        // An existing ledger is locked before the bundles are read, so that a concurrent second job ends immediately.
        // A new one is created only after the bundles are verified, so that a wrong name of a bundle leaves none.
        let existing = try ifExists { try self.ledger.openLedger(mustExist: true) }
        findings.hasLockedLedger = existing != nil
        let verified: VerifiedBundles
        do {
            verified = try await verifyBundles(isReleased: try existing?.view.releaseCheck())
        } catch let error as UnusableBundlesError {
            findings.unusableBundles = error.bundles
            throw endWithoutSending(error.bundles, areReported: false, monitor)
        }
        findings.unusableBundles = verified.unusableBundles
        if existing == nil, !bundles.isEmpty, verified.unusableBundles.count == bundles.count {
            throw endWithoutSending(verified.unusableBundles, areReported: true, monitor)
        }
        let ledger = try existing ?? ledger.openLedger(mustExist: false)
        findings.hasLockedLedger = true
        if ledger.isNew { reportNew(ledger) }
        // Without a bundle, a receipt would describe no file. A night without new bundles is a success.
        let hasReceipt = receipts.receipt != nil && verified.hasUsableBundle
        let receiptSource = hasReceipt ? try ReceiptSource(verified) : nil
        let plan = try plan(verified, ledger.view, settings.credentials)
        if !ledger.isNew { try requireCurrent(ledger, for: plan) }
        if let metrics { try MetricsFile(path: metrics).writeStart(start, ledger: self.ledger) }
        try ledger.begin(plan)
        let interval = sending.progressInterval.map { Duration.milliseconds($0.milliseconds) }
        let progress = SendingProgress(total: plan.uploadCount, isQuiet: common.quiet, interval: interval)
        progress.observe(&settings)
        let job = Job(plan: plan, source: verified.source, ledger: ledger, settings: settings)
        let report = try await JobRunner.run(job, progress: progress, until: deadline)
        findings.undelivered = report.undeliveredUploadCounts
        var summary = JobSummary(
            plan: plan.withholdingRecords(ofClientsEndedIn: report), report: report,
            failure: report.failure.map { CommandError(whileSending: $0) },
            settingHint: settings.credentials.settingHint(for:), unusableBundles: verified.unusableBundles,
            pauses: plan.pauses)
        if let receiptSource { write(receipt, of: receiptSource, from: start, &summary, ledger) }
        if summary.failure == nil {
            try ledger.countLoneFailures(in: report)
            try finish(&summary, ledger)
        }
        monitor.setText(summary.summaryLine)
        try summary.print(isQuiet: common.quiet, asJSON: common.json)
        if let failure = summary.failure { throw failure }
        let status = summary.exitStatus?.rawValue ?? 0
        try ledger.recordEnd(status: status, at: SystemClock.now)
        if status != 0 { throw ExitCode(status) }
    }

    /// Reports that nothing is sent because of `unusable` bundles, as one line with `--quiet`, and returns the exit status.
    private func endWithoutSending(
        _ unusable: [UnusableBundleError], areReported: Bool, _ monitor: JobMonitor
    ) -> ExitCode {
        let canSendOthers = !keepGoing && bundles.count > unusable.count
        let messages = unusable.map { CommandError($0).message }
        let failure = CommandError(
            status: unusable.exitStatus ?? .badData,
            message: (["nothing was sent"] + (common.quiet ? messages : [])).joined(separator: "; "),
            remedy: canSendOthers && !common.quiet
                ? "use --keep-going to skip unusable bundles and send the others" : nil)
        monitor.setText((messages + ["nothing was sent"]).joined(separator: "\n"))
        if !common.quiet, !areReported { unusable.report() }
        failure.report(as: PingferryUpload.name)
        return ExitCode(failure.status.rawValue)
    }

    /// Reports a new ledger, and whether other jobs have used a ledger at its path.
    private func reportNew(_ ledger: Ledger) {
        let earlier =
            ledger.countedJobs > 0
            ? ", although \(ledger.countedJobs.counted("job")) used a ledger there; what they delivered may be sent again"
            : ""
        StandardError.write("\(PingferryUpload.name): created a new ledger at \(ledger.path)\(earlier)")
    }

    /// Throws an error if the ledger is an older copy, because uploads of `plan` may be sent twice.
    private func requireCurrent(_ ledger: Ledger, for plan: Plan) throws {
        guard !acceptOlderLedger, let missing = try ledger.view.missingJobs() else { return }
        let failure = CommandError(LedgerError.older(path: ledger.path, missing))
        let uploads = "\(plan.uploadCount.counted("planned upload")) may have been delivered by the missing jobs"
        throw CommandError(status: failure.status, message: "\(failure.message); \(uploads)", remedy: failure.remedy)
    }

    /// Returns the time at which the job that begins now has to stop, or `nil` for no limit.
    ///
    /// - Throws: `CommandError` outside of the time window.
    private func deadline() throws -> ContinuousClock.Instant? {
        let maximum = maxDuration.map { ContinuousClock.now + .milliseconds($0.milliseconds) }
        guard let window else { return maximum }
        guard let left = window.secondsLeft(at: ledger.dayRule.secondOfDay(of: SystemClock.now)) else {
            throw CommandError(
                status: .tryLater, message: "nothing was sent, because it is not the time of --window \(window)")
        }
        let end = ContinuousClock.now + .seconds(left)
        return min(maximum ?? end, end)
    }

    /// Creates the file for the receipt before anything is sent, if one is requested.
    private func receiptOutput() throws -> ReceiptOutput {
        if let path = receipts.receipt { AtomicOutput.removeAbandoned(inFolderOf: path) }
        do {
            return try receipts.output(replacing: receiptContents.force)
        } catch let error as FileError where error.isLocked {
            // A job locks its receipt before its ledger, so a second job with the same receipt fails here.
            throw CommandError(status: .tryLater, message: "another job is running: \(error)")
        }
    }

    /// Writes the receipt of the job that began at `start`, or reports the error and stores it in `summary`.
    private func write(
        _ receipt: consuming ReceiptOutput, of source: ReceiptSource, from start: Timestamp,
        _ summary: inout JobSummary, _ ledger: Ledger
    ) {
        let end = SystemClock.now
        do throws(CommandError) {
            try receipt.write(after: "the outcomes are in the ledger, from which the command receipt can make one") {
                do {
                    let outcomes = try ledger.view.recordOutcomes(
                        of: source.pool, today: self.ledger.dayRule.day(of: end))
                    let endpoints = source.endpoints(among: try sending.servers())
                    let receipt = source.receipt(
                        outcomes, run: .job(start: start, end: end, endpoints: endpoints), origin: .current())
                    return receiptContents.statement(of: receipt, outcomes, from: source)
                } catch let error as LedgerError {
                    throw CommandError(error)
                }
            }
        } catch {
            error.report(as: PingferryUpload.name)
            summary.receiptFailure = error
        }
    }

    /// Adds the state of the ledger after the job to `summary`, and moves finished bundles if `--move-done` is given.
    private func finish(_ summary: inout JobSummary, _ ledger: Ledger) throws {
        summary.refusalGroups = try ledger.view.refusals()
        summary.setAsideGroups = try ledger.view.setAsideRecords()
        summary.pauses = try ledger.view.pauses(of: summary.plan, at: SystemClock.now)
        summary.releasableHoldCounts = try ledger.view.releasableHoldCounts(
            knowing: Systems.table, ignoring: Set(texts: ignoreHeld))
        guard moveDone != nil || common.json else { return }
        let pool = summary.plan.pool
        let state = try ledger.view.state(of: pool, today: self.ledger.today)
        summary.bundleStatuses = BundleStatus.allStatuses(
            of: PoolStatus(of: pool, state, try ledger.view.recordedReasons(of: pool)))
        if let moveDone {
            try move(summary.bundleStatuses.filter(\.isDone), to: DestinationFolder(path: moveDone), &summary, ledger)
        }
    }

    /// Moves `bundles` to `folder`, reports the bundles that cannot be moved, and records the new paths in the ledger.
    private func move(
        _ bundles: [BundleStatus], to folder: borrowing DestinationFolder, _ summary: inout JobSummary, _ ledger: Ledger
    ) throws {
        for bundle in bundles {
            let path: String
            do throws(CommandError) {
                guard let newPath = try Self.move(bundle.name, to: folder) else { continue }
                path = newPath
            } catch {
                summary.moveFailure = summary.moveFailure ?? error
                error.report(as: PingferryUpload.name)
                continue
            }
            let expected = folder.path(of: Path.name(of: bundle.name.path))
            if path != expected {
                StandardError.write(
                    "\(PingferryUpload.name): \(expected) exists, so \(bundle.name.path) was moved to \(path)")
            }
            summary.movedPaths.append(path)
            try ledger.recordMove(bundle.name, to: path, knowing: Systems.table)
        }
    }

    /// Moves the files and the signature of `bundle`, and returns its new path, or `nil` if `folder` contains them.
    private static func move(
        _ bundle: BundleName, to folder: borrowing DestinationFolder
    ) throws(CommandError) -> String? {
        let reader: BundleReader
        do throws(BundleError) {
            reader = try BundleReader(path: bundle.path, knowing: Systems.table)
        } catch {
            throw CommandError(moving: error, bundle.path)
        }
        // Another process may have replaced the bundle while the job ran.
        guard reader.manifest.digest == bundle.digest else { throw CommandError(replacedBundleAt: bundle.path) }
        let path = reader.volumes?.names.first?.bundlePath ?? bundle.path
        let signature = AllowedSigners.signaturePath(of: path)
        let paths = (reader.volumes?.paths ?? [bundle.path]) + (FileIdentity(path: signature) == nil ? [] : [signature])
        do throws(FileError) {
            return try folder.move(paths, named: Path.name(of: path), keepsNames: reader.volumes != nil)
        } catch {
            throw CommandError(moving: error)
        }
    }

    private func verifyBundles(
        isReleased: (@Sendable (_ id: String, _ code: String) -> Bool)?
    ) async throws -> VerifiedBundles {
        let signers = try signing.signers(environment: ProcessInfo.processInfo.environment)
        let verified = try await CommonOptions.verifyBundles(
            at: bundles, signedBy: signers, keepsGoing: keepGoing, isQuiet: common.quiet,
            isReleased: isReleased ?? { _, _ in false })
        // With --quiet, the summary names them.
        if !common.quiet || dryRun { verified.unusableBundles.report() }
        return verified
    }
}
