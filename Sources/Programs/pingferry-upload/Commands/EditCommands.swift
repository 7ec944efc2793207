import ArgumentParser
import Bytes
import Console
import Delivery
import JSONText

/// The command `retry`, which makes the next job send refused records again.
struct RetryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Send records again that were refused or set aside.",
        discussion: """
            A refused record is not sent again until you request it, nor is one that was set aside, because it alone failed \
            with server errors in 3 jobs. Use status --refused and status to see the answers. Then give the ids of records, or \
            the status of the answer. The next job whose bundles contain the records sends them.
              pingferry-upload retry 7F6E2B0C-0D53-4C4E-9C4B-8F6A4B2F0A11
              pingferry-upload retry --status 413
            """)

    @Option(
        help: ArgumentHelp(
            "Select all records that were refused or set aside with this status. (repeatable)", valueName: "status"))
    var status: [Int] = []

    @Flag(help: "Select all records that are refused or set aside.")
    var all = false

    @OptionGroup var edit: EditOptions

    func validate() throws {
        guard [!status.isEmpty, all, !edit.ids.isEmpty].count(where: \.self) == 1 else {
            throw ValidationError("specify ids, --status or --all")
        }
    }

    func run() async throws {
        try await reportingErrors {
            let selections: [RefusalSelection] =
                all ? [.all] : status.isEmpty ? [.ids(edit.ids)] : status.map { .status($0) }
            let ledger = try edit.openLedger()
            let counts = try selections.reduce(into: [:]) { $0.merge(try ledger.retry($1), uniquingKeysWith: +) }
            try edit.report("record to be sent again", plural: "records to be sent again", counts)
            try edit.requireKnownIDs(counts)
        }
    }
}

/// The command `forget`, which removes records from the ledger or gives them up.
struct ForgetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "forget",
        abstract: "Forget records, so that they count as never sent, or give them up permanently.",
        discussion: """
            A record that was delivered or refused is sent again, under the same id, if a job finds it in a bundle. A released \
            record is held again. Today's quota remains used. Delivered events of lists are not forgotten, because servers do not \
            recognize repeated events. The address of a server ends the pause that it requested, and the digest of a bundle \
            removes its waiting records. If a server accepted nothing more of a client after a record, forgetting that record \
            makes the client's other records available again.
              pingferry-upload forget 7F6E2B0C-0D53-4C4E-9C4B-8F6A4B2F0A11
              pingferry-upload forget https://incoming.telemetry.mozilla.org

            With --for-good, refused and waiting records are given up: no job sends or reports them again, and their bundles can \
            be done without them. retry undoes this.
              pingferry-upload forget --for-good 7F6E2B0C-0D53-4C4E-9C4B-8F6A4B2F0A11
            """)

    @Flag(help: "Give up undelivered records, so that no job sends or reports them again.")
    var forGood = false

    @OptionGroup var edit: EditOptions

    func validate() throws { try edit.requireIDs() }

    func run() async throws {
        try await reportingErrors {
            let ledger = try edit.openLedger()
            let counts = try forGood ? ledger.giveUp(edit.ids, at: SystemClock.now) : ledger.forget(edit.ids)
            try edit.report(
                forGood ? "record given up" : "entry forgotten",
                plural: forGood ? "records given up" : "entries forgotten", counts)
            try edit.requireKnownIDs(counts)
        }
    }
}

/// The option of commands that change the ledger.
struct RehearsalOptions: ParsableArguments {
    @Flag(name: [.customShort("n"), .long], help: "Only print what would change.")
    var dryRun = false

    /// The beginning of the line about the changes.
    var prefix: String { dryRun ? "dry run: " : "" }
}

/// The options of commands that edit the ledger.
struct EditOptions: ParsableArguments {
    @Argument(help: ArgumentHelp("The ids of records, as shown by status --ids and list --ids.", valueName: "id"))
    var ids: [String] = []

    @OptionGroup var rehearsal: RehearsalOptions
    @OptionGroup(title: "Ledger") var ledger: LedgerOptions
    @OptionGroup(title: "Common options") var common: CommonOptions

    func openLedger() throws -> Ledger { try ledger.openLedger(mustExist: true, isRehearsal: rehearsal.dryRun) }

    func requireIDs() throws {
        guard !ids.isEmpty else { throw ValidationError("Missing expected argument '<id> ...'") }
    }

    func report(_ noun: String, plural: String, _ counts: [CapturedText: Int]) throws {
        let total = counts.values.reduce(0, +)
        if common.json {
            try JSONResult.print(["dryRun": rehearsal.dryRun, "entries": counts], as: .edit)
        } else if !common.quiet {
            try Terminal.print("\(rehearsal.prefix)\(total) \(total == 1 ? noun : plural)")
        }
    }

    /// Throws a `CommandError` if no entry was changed for an id.
    ///
    /// `counts` contains the number of changed entries for each id, which is zero for an unknown id.
    func requireKnownIDs(_ counts: [CapturedText: Int]) throws {
        let unknown = counts.filter { $0.value == 0 }.keys.sorted()
        guard let first = unknown.first else { return }
        let more = unknown.count > 1 ? " and \(unknown.count - 1) more" : ""
        throw CommandError(
            status: .noInput, message: "\(first)\(more): not in the ledger",
            remedy: "use status --ids or list --ids to see the exact ids")
    }
}
