import ArgumentParser
import Console
import Delivery
import JSONText
import Telemetry

/// `status`: what the ledger knows.
struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show what was delivered and refused, is in flight, and waits.",
        discussion: """
            Counts by client and type, and what each client has had of today's quota. What waits is what the last job \
            left. A server that asked to be left alone for a while (Retry-After) is named. Can be run while a job is at work.
              pingferry-upload status
              pingferry-upload status --refused
            """)

    @Option(help: ArgumentHelp("Only this client, in either letter case. (repeatable)", valueName: "id"))
    var client: [String] = []

    @Flag(help: "List the records that were refused, with the server's answers.")
    var refused = false

    @OptionGroup(title: "Ledger") var ledger: LedgerOptions
    @OptionGroup(title: "Common options") var common: CommonOptions

    func run() async throws {
        try await reporting {
            let now = SystemClock.now
            let today = ledger.days.day(of: now)
            let overview = try LedgerView(path: try ledger.path()).overview(today: today)
            let report = StatusReport(overview: overview, clients: Set(client.map { $0.lowercased() }), now: now)
            if common.json {
                try Terminal.print(report.json)
            } else if !common.quiet {
                if refused { try report.printRefusals() } else { try report.printTable() }
            }
        }
    }
}
