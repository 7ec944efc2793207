import ArgumentParser
import Capture
import Console
import Files
import Systems
import Telemetry

/// `list`: what bundles hold, from their manifests and details.
struct ListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Show what bundles hold.",
        discussion: """
            What they were made of, members, counts, clients, what is held and why, what was quarantined, and problems. Reads \
            the manifest and the details, not the records; verify reads those too. Of each list the first 1000 lines are \
            shown; --json gives all.
              pingferry list monday.tar.zst

            --ids shows the records instead, a line each with tabs between: id, system, type, client, time, why it is held; \
            - where there is nothing, and the bundle at the end where several are given. The ids are what pingferry-upload \
            retry, release and forget take. With --json the object has a key records; of several bundles, each has an object \
            on a line of its own.
              pingferry list --ids monday.tar.zst | grep too-few-events | cut -f 1

            Records are held as:
            \(holdCodes)
            """)

    /// The codes of holds and their meanings, in two columns.
    private static let holdCodes: String = {
        let codes = Systems.table.holdCodes
        let width = codes.map(\.code.count).max() ?? 0
        return codes.map { code in
            let padding = String(repeating: " ", count: width - code.code.count)
            return "  \(code.code)\(padding)  \(code.meaning)"
        }.joined(separator: "\n")
    }()

    @Argument(help: ArgumentHelp("Bundles; - is standard input.", valueName: "bundle"), completion: .file())
    var bundles: [String]

    @Flag(help: "Show each record: its id, and why it is held.")
    var ids = false

    @OptionGroup(title: "Common options") var common: CommonOptions

    func validate() throws { try InputOptions.checkStandardInput(in: bundles) }

    func run() async throws {
        try await reportingEach(of: bundles, list)
    }

    private func list(_ path: String, isFirst: Bool) throws {
        let reader = try InputOpening.bundle(path, systems: Systems.table, copyFolder: CommonOptions.temporaryFolder)
        let name = InputOpening.name(of: path)
        try InputOpening.naming(name) {
            let records = RecordListing(reader: reader)
            if ids, !common.json {
                guard !common.quiet else { return }
                return try records.printLines(bundleName: bundles.count > 1 ? name : nil)
            }
            let contents = try BundleContents(reader)
            if common.json {
                try contents.printJSON(path: path, ids ? records : nil)
            } else if !common.quiet {
                if !isFirst { try Terminal.print("") }
                if bundles.count > 1 { try Terminal.print("\(name):") }
                try contents.printTables()
            }
        }
    }
}
