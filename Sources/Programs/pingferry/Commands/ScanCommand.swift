import ArgumentParser
import Capture
import Console
import JSONText
import Systems
import Telemetry

/// `scan`: the stores of captures, and what is in them.
struct ScanCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scan",
        abstract: "List the stores found in captures.",
        discussion: """
            Reads everything as bundle would and writes nothing: app, kind of store, path, records, what is held and why, \
            and what could not be understood. With --json each store also counts its events by what they are documented to \
            mean; those that no documentation names are counted as unknown.
              pingferry scan phone/

            With more than \(AppListing.maximumStoreCount) stores in more than \(AppListing.maximumContainerCount) containers, the stores of \
            each app are added up, whatever capture they are in; --stores shows each store. With --json there are both: \
            stores, and apps.
              pingferry scan --stores phones/

            Of what could not be understood, and of problems, the first 1000 are shown, and how many there are of each \
            code; bundle keeps them all.

            For queues of events it says whether the app's own rules call them ready for upload, and why. That depends on \
            the time: it is judged at the newest instant that the store tells, or at the one that --at gives.
            """)

    @Option(
        help: ArgumentHelp("When to judge whether queues are ready: a date or an RFC 3339 time.", valueName: "time"))
    var at: String?

    @Flag(help: "Show each store, however many there are.")
    var stores = false

    @OptionGroup var input: InputOptions

    @Flag(help: "Read what is left of damaged bundles.")
    var salvage = false

    @OptionGroup(title: "Encrypted backups") var backups: PasswordOptions
    @OptionGroup(title: "Filters") var filters: FilterOptions
    @OptionGroup(title: "Common options") var common: CommonOptions

    private func instant() throws -> Timestamp? { try FilterOptions.time(at, "--at") }

    func validate() throws { _ = try instant() }

    func run() async throws {
        try await reporting {
            let limit = common.limit
            let opening = InputOpening(
                labels: input.label, systems: Systems.table, limit: limit, isSalvage: salvage, spool: input.spool,
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
            }
            try summary.finish()
        }
    }
}
