import ArgumentParser
import Capture
import Console
import Files
import Systems
import Telemetry

/// The command `list`, which shows the contents of bundles from their manifests and details.
struct ListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Show the contents of bundles.",
        discussion: """
            Shows inputs, members, counts, clients, held records with their reasons, withdrawals by which no record \
            of a client may be uploaded, quarantined items and problems. \
            Reads the manifest and the details, but not the records; verify reads the records too. Shows the first \
            1000 lines of each list; --json shows all.
              pingferry list monday.tar.zst

            --ids lists the records instead, one per line with tab-separated columns: id, system, type, client, time, \
            and the reasons why the record is held. Missing values are shown as -. With several bundles, the last \
            column is the bundle. The ids can be passed to pingferry-upload retry, release and forget. With --json the \
            object has a key records. With several bundles, each has an object on a separate line.
              pingferry list --ids monday.tar.zst | grep too-few-events | cut -f 1

            A record that is held has one or more of these codes:
            \(holdCodes)
            """)

    /// The hold codes and their meanings, in two columns.
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

    @Flag(help: "List the records with their ids and the reasons why they are held.")
    var ids = false

    @OptionGroup(title: "Common options") var common: CommonOptions

    func validate() throws { try InputOptions.checkStandardInput(in: bundles) }

    func run() async throws { try await reportingErrors(for: bundles, list) }

    private func list(_ path: String, isFirst: Bool) throws {
        let reader = try InputOpener.openBundle(path, systems: Systems.table, copyFolder: CommonOptions.temporaryFolder)
        let name = InputOpener.name(of: path)
        try InputOpener.withInputErrors(of: name) {
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
