import ArgumentParser
import Bytes
import Console
import Delivery
import JSONText
import Systems

/// The command `prune`, which removes old entries from the ledger.
struct PruneCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prune",
        abstract: "Remove the entries of old records from the ledger.",
        discussion: """
            Removes the entries of delivered and given-up records that no job has seen in a bundle for the given time. The time \
            is counted back from the last job. If a job is given such a bundle again later, its records are sent again, so do \
            not keep old bundles in the folders of jobs.
              pingferry-upload prune --older-than 90d

            The following entries are never removed: refused records that are not resolved, uploads in flight, waiting records, \
            requests for deletion and other final withdrawals, ended clients, and the delivered events of lists. The file does not \
            shrink, but its free space is reused.
            """)

    @Option(
        help: ArgumentHelp(
            "Remove records that no job has seen for this time, such as 90d. The minimum is 7d.", valueName: "age"))
    var olderThan: Age

    @OptionGroup var rehearsal: RehearsalOptions
    @OptionGroup(title: "Ledger") var ledger: LedgerOptions
    @OptionGroup(title: "Common options") var common: CommonOptions

    func validate() throws {
        guard olderThan.milliseconds >= Self.minimumAge else {
            throw ValidationError("--older-than must be at least 7d")
        }
    }

    /// The minimum of `--older-than`, in milliseconds, which is longer than the usual time between two jobs.
    private static let minimumAge: Int64 = 7 * 86_400_000

    func run() async throws {
        try await reportingErrors {
            let count = try ledger.openLedger(mustExist: true, isRehearsal: rehearsal.dryRun).prune(
                unseenFor: olderThan.milliseconds, knowing: Systems.table, at: SystemClock.now)
            if common.json {
                try JSONResult.print(["dryRun": rehearsal.dryRun, "pruned": count], as: .prune)
            } else if !common.quiet {
                try Terminal.print("\(rehearsal.prefix)\(count.counted("record")) removed from the ledger")
            }
        }
    }
}
