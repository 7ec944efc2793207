import ArgumentParser
import JSONText

/// `scan`: the stores of captures, and what is in them.
struct ScanCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scan",
        abstract: "List the stores found in captures.",
        discussion: """
            Reads everything as bundle would and writes nothing: app, kind of store, path, records, what is held and why, \
            and what could not be understood.
              pingferry scan phone/
            """)

    @OptionGroup var input: InputOptions

    @Flag(help: "Read what is left of damaged bundles.")
    var salvage = false

    @OptionGroup(title: "Filters") var filters: FilterOptions
    @OptionGroup(title: "Common options") var common: CommonOptions

    func run() async throws {
        try await reporting {
            let limit = common.limit
            let opening = InputOpening(label: input.label, limit: limit, isSalvage: salvage)
            let reading = Reading(
                try await opening.open(input.paths), paths: input.paths, filter: try filters.filter(), common: common,
                limit: limit)
            var report = ScanReport(reading.inputs, paths: input.paths)
            let intake = try await reading.run { entry, _, _ in report.count(entry) }
            report.add(intake)
            let summary = Summary(intake)
            if common.json {
                try summary.printJSON { $0.set("stores", elements: report.stores.map(\.bytes)) }
            } else if !common.quiet {
                try report.printTables()
                try Terminal.print(summary.sentence)
            }
            try summary.finish()
        }
    }
}
