import ArgumentParser
import Capture
import Console
import JSONText
import Systems
import Telemetry

/// The command `scan`, which lists the stores in captures and their contents.
struct ScanCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scan",
        abstract: "List the stores found in captures.",
        discussion: """
            Reads the inputs as bundle does, but writes no file. Shows the app, kind and path of each store, its \
            records, the reasons why records are held, and items that could not be parsed. With --json each store also \
            counts its events by documented meaning; undocumented events are counted as unknown.
              pingferry scan phone/

            If there are more than \(AppListing.maximumStoreCount) stores in more than \
            \(AppListing.maximumContainerCount) containers, the stores of each app are combined, also across captures. \
            --stores lists each store. --json contains both stores and apps.
              pingferry scan --stores phones/

            Shows the first 1000 items that could not be parsed, the first 1000 problems, and the number with each \
            code. A bundle contains all of them.

            For queues of events, shows whether they are ready for upload by the rules of the app. This depends on the \
            time. By default, queues are evaluated at the latest time in the store; --at specifies another time.
            """)

    @Option(
        help: ArgumentHelp("The time at which queues are evaluated: a date or an RFC 3339 time.", valueName: "time"))
    var at: String?

    @Flag(help: "List each store, even if there are many.")
    var stores = false

    @OptionGroup var input: InputOptions

    @Flag(help: "Read the intact parts of damaged bundles.")
    var salvage = false

    @OptionGroup(title: "Encrypted backups") var backups: PasswordOptions
    @OptionGroup(title: "Filters") var filters: FilterOptions
    @OptionGroup(title: "Common options") var common: CommonOptions

    private func instant() throws -> Timestamp? { try FilterOptions.time(at, "--at") }

    func validate() throws { _ = try instant() }

    func run() async throws {
        try await reportingErrors {
            let limit = common.jobLimit
            let opening = InputOpener(
                labels: input.label, systems: Systems.table, limit: limit, salvagesDamagedBundles: salvage,
                spool: input.spool,
                passwords: try backups.passwords(isQuiet: common.quiet))
            let reader = CaptureReader(
                try await opening.open(input.paths), paths: input.paths,
                options: common.scanOptions(filter: try filters.filter(), reportsQueues: true), limit: limit)
            var report = ScanReport(reader.inputs, paths: input.paths, at: try instant())
            var labeler = EventLabeler(Systems.table)
            let intake = try await common.read(
                reader,
                keep: { entry, _, payload in
                    report.count(entry)
                    guard common.json else { return }
                    let record = entry.summary
                    let labels = labeler.labels(of: Array(payload), system: record.system, type: record.type)
                    report.count(labels, of: entry)
                }, note: { report.note($0) })
            report.finish(intake)
            let summary = Summary(intake, of: reader.options)
            if common.json {
                let json = ScanJSON(report)
                try summary.printJSON(streaming: "stores", json.forEachStore) { object in
                    object.set("apps", elements: json.appEntries.map(\.bytes))
                    object.set("backups", elements: json.backups.map(\.bytes))
                }
            } else if !common.quiet {
                if !stores, AppListing.isNeeded(for: report) {
                    try AppListing(report).print()
                } else {
                    try ScanListing(report).print()
                }
                try Terminal.print(summary.sentence)
                for line in summary.decisionLines { try Terminal.print(line) }
            }
            try summary.finish()
        }
    }
}
