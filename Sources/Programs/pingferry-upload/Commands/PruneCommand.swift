import ArgumentParser
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
            Removes the entries of records that were delivered or given up, and that no job has had in a bundle for the given \
            time. The time is counted back from the last job. A bundle that is given to a job again after that is sent again, so \
            do not keep such bundles where jobs find them.
              pingferry-upload prune --older-than 90d

            Never removed: records that were refused, until retry or forget settles them; what is in flight or waits; requests \
            for deletion; and the events of lists that were delivered. The file does not become smaller, but grows again only \
            once its free space is used.
            """)

    @Option(
        help: ArgumentHelp(
            "The time for which no job has had a record, such as 90d; at least 7d.", valueName: "age"))
    var olderThan: Age

    @OptionGroup(title: "Ledger") var ledger: LedgerOptions
    @OptionGroup(title: "Common options") var common: CommonOptions

    func validate() throws {
        guard olderThan.milliseconds >= Self.shortest else { throw ValidationError("--older-than takes 7d or more") }
    }

    /// The minimum age, in milliseconds.
    ///
    /// Jobs mark the records that they see only once a day, and may not run for some days.
    private static let shortest: Int64 = 7 * 86_400_000

    func run() async throws {
        try await reportingErrors {
            let count = try ledger.open(mustExist: true).prune(
                unseenFor: olderThan.milliseconds, knowing: Systems.table, at: SystemClock.now)
            if common.json {
                try Terminal.print(CanonicalObject(counts: ["pruned": count]))
            } else if !common.quiet {
                try Terminal.print("\(Phrase.count(count, "record")) removed from the ledger")
            }
        }
    }
}
