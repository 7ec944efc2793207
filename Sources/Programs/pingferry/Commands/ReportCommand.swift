import ArgumentParser
import Bundle
import Capture
import Console
import Export
import Files
import JSONText
import Systems
import Telemetry

/// The command `report`, which summarizes captures on an HTML page.
struct ReportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Summarize captures on an HTML page.",
        discussion: """
            Writes one self-contained HTML file without scripts, network access or other files. It opens from a USB \
            stick in any browser, can be printed, and is accessible to screen readers. It shows the inputs and whether \
            they were read completely; records and events over time; active clients by day and by week, and their \
            retention; clients, apps, phones and locales; events by meaning, and metrics; uploadable records and held \
            records with the reasons; gaps; items that could not be parsed; and pending queues.
              pingferry report -o phone.html phone/
              pingferry report -o week.html --since 2020-03-01 --minimum-count 5 monday.tar.zst tuesday.tar.zst

            Counts below --minimum-count are shown as <n, so that they do not identify individuals. Other counts are \
            rounded down to multiples of n, so that hidden counts cannot be calculated from them. This protects a single \
            report: if two reports of overlapping data are compared, their differences can reveal small counts. The page \
            then lists no single clients, but still contains the names of inputs. --pseudonymize replaces ids by pseudonyms, and omits \
            names, paths and free text. --coarsen-times also rounds all times. The summary of --json contains exact counts.

            --\(EventDefinitions.optionName) adds the meanings of events and metrics that apps define themselves; see convert.
            """)

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("The page to write: a file, a pipe, or - for standard output.", valueName: "file"),
        completion: .file())
    var output: String

    @Option(help: ArgumentHelp("Show counts below n as <n, and round others down.", valueName: "n"))
    var minimumCount = 1

    @Flag(help: "Replace an existing file.")
    var force = false

    @Flag(help: "Read the intact parts of damaged bundles.")
    var salvage = false

    @Option(
        help: ArgumentHelp("The time at which queues are evaluated: a date or an RFC 3339 time.", valueName: "time"))
    var at: String?

    @OptionGroup var definitions: DefinitionOptions
    @OptionGroup var input: InputOptions
    @OptionGroup(title: "Encrypted backups") var backups: PasswordOptions
    @OptionGroup(title: "Filters") var filters: FilterOptions
    @OptionGroup(title: "Pseudonyms") var pseudonyms: PseudonymOptions
    @OptionGroup(title: "Common options") var common: CommonOptions

    private var isStandardOutput: Bool { output == "-" || StandardOutput.isNamed(by: output) }

    private func instant() throws -> Timestamp? { try FilterOptions.time(at, "--at") }

    func validate() throws {
        _ = try instant()
        guard (1...1_000_000_000).contains(minimumCount) else {
            throw ValidationError("--minimum-count requires a number from 1 to 1000000000")
        }
        if common.json, isStandardOutput {
            throw ValidationError("--json and -o \(output) both use standard output")
        }
    }

    func run() async throws {
        try await reportingErrors {
            var files = CommandFiles()
            files.read(
                input.allPaths + backups.passwordFile + definitions.paths
                    + [pseudonyms.pseudonymize].compactMap(\.self))
            files.read(OutputLocation.filesOfCaptures(among: [output], inputs: input.paths))
            if !isStandardOutput { files.write("--output", AtomicOutput.replacedPaths(of: output)) }
            try files.check()
            let pseudonymizer = try pseudonyms.pseudonymizer()
            let systems = try definitions.systems()
            let file = try CommandOutput(path: isStandardOutput ? "-" : output, replacing: force)
            OutputLocation.warnIfInsideCapture(output, inputs: input.paths, isQuiet: common.quiet)
            let limit = common.jobLimit
            let opening = try input.opener(
                limit, backups, isQuiet: common.quiet, excluded: file.identities, salvages: salvage)
            let reader = CaptureReader(
                try await opening.open(input.paths), paths: input.paths,
                options: common.scanOptions(
                    filter: try filters.filter(), pseudonymizer: pseudonymizer, reportsQueues: pseudonymizer == nil),
                limit: limit)
            let database = try ReportDatabase(systems, sizeLimit: input.spoolLimit << 20, limit: limit)
            var stores = ScanReport(reader.inputs, paths: input.paths, at: try instant())
            let (intake, payloadByteCount) = try await read(
                reader, into: database, systems, stores: &stores)
            if pseudonymizer != nil {
                try database.add(
                    quarantined: intake.quarantinedItems.countsByCode, problems: intake.problems.countsByCode)
            }
            let page = try ReportPage(
                database, facts: facts(reader, intake, stores, pseudonymizer, payloadByteCount: payloadByteCount),
                systems: systems, minimumCount: minimumCount)
            let bytes = try page.makeBytes()
            try file.write(bytes.span)
            try file.commit()
            try printSummary(Summary(intake, of: reader.options), page, size: bytes.count)
        }
    }

    /// Reads all inputs into the tables of `database`, and returns the total size of the payloads in bytes.
    private func read(
        _ reader: CaptureReader, into database: ReportDatabase, _ systems: SystemTable, stores: inout ScanReport
    ) async throws -> (intake: Intake, payloadByteCount: Int) {
        var payloadByteCount = 0
        var export = try TableExport(
            .report(database), path: output, replacing: force, systems: systems, limit: reader.limit)
        let intake = try await common.read(
            reader, listing: input.storeListing(of: reader),
            keep: { entry, line, payload in
                stores.count(entry)
                export.add(entry.summary, line: line, payload: payload)
                payloadByteCount += payload.count
            },
            note: { finding in
                // With pseudonyms, only the codes are added, after all input has been read.
                guard reader.options.pseudonymizer == nil else { return }
                switch finding {
                case .quarantined(let item, _): export.add(item)
                case .problem(let problem): export.add(problem)
                case .app: break
                }
            }, afterOutput: { try await export.writeFinishedRows() })
        stores.finish(intake)
        try export.add(stores.exportedStores)
        _ = try await export.finish()
        return (intake, payloadByteCount)
    }

    /// Returns the facts about the inputs that the HTML page shows.
    private func facts(
        _ reader: CaptureReader, _ intake: Intake, _ stores: ScanReport, _ pseudonymizer: RecordPseudonymizer?,
        payloadByteCount: Int
    ) -> ReportFacts {
        let inputs = zip(reader.inputs, input.paths).map { $0.reportInput(path: $1) }
        var facts = ReportFacts(
            generator: "pingferry \(ProgramVersion.number)", inputs: inputs, payloadByteCount: payloadByteCount,
            duplicateCount: intake.duplicateCount, isComplete: !intake.isIncomplete)
        facts.usageDataCounts = stores.usageDataCounts
        guard let pseudonymizer else {
            facts.queues = stores.queues
            return facts
        }
        // With pseudonyms, names and digests of inputs are omitted, because they would reveal the origin of the data.
        facts.inputs = inputs.enumerated().map { .init(label: "input \($0 + 1)", kind: $1.kind) }
        facts.pseudonymizedFacts = .init(keyID: pseudonymizer.keyID, timeUnit: pseudonymizer.timeUnit)
        return facts
    }

    private func printSummary(_ summary: Summary, _ page: ReportPage, size: Int) throws {
        if common.json {
            try summary.printJSON(as: .report) { object in
                object.set("clients", page.totals.clientCount)
                object.set("days", page.totals.dayCount)
                object.set("events", page.totals.eventCount)
                object.set("nights", page.totals.nightCount)
                object.set("output", output)
                object.set("payloadBytes", page.facts.payloadByteCount)
                object.set("size", size)
            }
        } else if !isStandardOutput, !common.quiet {
            try Terminal.print("wrote \(output): \(summary.sentence)")
        }
        try summary.finish(isQuiet: common.quiet)
    }
}

extension ScanReport {
    /// The number of containers for each state of usage data.
    fileprivate var usageDataCounts: [UsageDataState: Int] {
        var states: [Int: UsageDataState] = [:]
        for row in rows {
            guard let state = row.usageData?.state, states[row.containerNumber] != .off else { continue }
            if states[row.containerNumber] == nil || state != .unknown { states[row.containerNumber] = state }
        }
        return Dictionary(states.values.map { ($0, 1) }, uniquingKeysWith: +)
    }

    /// The facts and queues of all stores, in the order of the captures.
    fileprivate var queues: [ReportQueue] {
        var queues: [ReportQueue] = []
        for input in inputs {
            input.forEachStore { path, rows in
                let sentences = rows.flatMap { row in
                    row.details.facts
                        + (row.details.queue.map { ["\(ScanRow.relativePath(of: row.path, in: path)): \($0.sentence)"] }
                            ?? [])
                }
                guard !sentences.isEmpty else { return }
                let pending = rows.compactMap { $0.details.pendingEvents?["pending"] }
                queues.append(
                    ReportQueue(
                        capture: input.label, path: path, sentences: sentences,
                        pendingEventCount: pending.isEmpty ? nil : pending.reduce(0, +)))
            }
        }
        return queues
    }
}

extension CaptureInput {
    /// Returns the description of the input on the page.
    fileprivate func reportInput(path: String) -> ReportInput {
        switch self {
        case .folder(let capture):
            ReportInput(label: capture.label, kind: capture.backups.isEmpty ? "capture" : "backup")
        case .log(let log): ReportInput(label: log.label, kind: "request log")
        case .bundle(let bundle):
            ReportInput(
                label: path, kind: "bundle", digest: bundle.manifest.digest, filters: bundle.manifest.filterLines)
        case .salvage: ReportInput(label: path, kind: "damaged bundle")
        }
    }
}
