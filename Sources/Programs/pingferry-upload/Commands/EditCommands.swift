import ArgumentParser
import Console
import Delivery
import JSONText

/// The command `retry`, which sends refused records again.
struct RetryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Let records be sent again that a server refused.",
        discussion: """
            A refusal is final until somebody says otherwise: find out why with status --refused, then name the records, or \
            the status that they were refused with. They go with the next job whose bundles hold them.
              pingferry-upload retry 7F6E2B0C-0D53-4C4E-9C4B-8F6A4B2F0A11
              pingferry-upload retry --status 413
            """)

    @Option(help: ArgumentHelp("All that was refused with this status.", valueName: "status"))
    var status: Int?

    @Flag(help: "All that was refused.")
    var all = false

    @OptionGroup var edit: EditOptions

    func validate() throws {
        guard [status != nil, all, !edit.ids.isEmpty].count(where: \.self) == 1 else {
            throw ValidationError("retry takes ids, or --status, or --all")
        }
    }

    func run() async throws {
        try await reportingErrors {
            let selection: RefusalSelection = all ? .all : status.map { .status($0) } ?? .ids(edit.ids)
            let counts = try edit.ledger.open(mustExist: true).retry(selection)
            try edit.report("record to be sent again", plural: "records to be sent again", counts)
            try edit.requireKnown(counts)
            guard !counts.isEmpty else { throw ExitCode(ExitStatus.noInput.rawValue) }
        }
    }
}

/// The command `forget`, which removes records from the ledger or gives them up.
struct ForgetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "forget",
        abstract: "Forget records, so that they count as never sent, or give them up.",
        discussion: """
            What was delivered or refused is then sent again if a bundle holds it, under the same id; what was released is \
            held again. Today's quota stays used. Events of lists that were delivered stay so: servers cannot tell that they \
            had them. The address of a server that asked to be left alone makes that forgotten, the digest of a bundle what \
            waits of it.
              pingferry-upload forget 7F6E2B0C-0D53-4C4E-9C4B-8F6A4B2F0A11
              pingferry-upload forget https://incoming.telemetry.mozilla.org

            With --for-good records are given up that were refused, or wait: no job sends them any more, nothing more is said of \
            them, and their bundles can be done without them. retry brings them back.
              pingferry-upload forget --for-good 7F6E2B0C-0D53-4C4E-9C4B-8F6A4B2F0A11
            """)

    @Flag(help: "Give up records that are not delivered: they are never sent, and no longer told.")
    var forGood = false

    @OptionGroup var edit: EditOptions

    func validate() throws { try edit.requireIDs() }

    func run() async throws {
        try await reportingErrors {
            let ledger = try edit.ledger.open(mustExist: true)
            let counts = try forGood ? ledger.giveUp(edit.ids, at: SystemClock.now) : ledger.forget(edit.ids)
            try edit.report(
                forGood ? "record given up" : "entry forgotten",
                plural: forGood ? "records given up" : "entries forgotten",
                counts)
            try edit.requireKnown(counts)
        }
    }
}

/// The options of commands that edit the ledger.
struct EditOptions: ParsableArguments {
    @Argument(help: ArgumentHelp("Ids of records, as status --ids and list --ids show them.", valueName: "id"))
    var ids: [String] = []

    @OptionGroup(title: "Ledger") var ledger: LedgerOptions
    @OptionGroup(title: "Common options") var common: CommonOptions

    /// Throws an error if no ids are given.
    func requireIDs() throws {
        guard !ids.isEmpty else { throw ValidationError("Missing expected argument '<id> ...'") }
    }

    func report(_ what: String, plural: String, _ counts: [String: Int]) throws {
        let total = counts.values.reduce(0, +)
        if common.json {
            try Terminal.print(CanonicalObject(counts: counts))
        } else if !common.quiet {
            try Terminal.print("\(total) \(total == 1 ? what : plural)")
        }
    }

    /// Throws a `CommandError` if the ledger has no entries for some of the ids.
    func requireKnown(_ counts: [String: Int]) throws {
        let unknown = counts.filter { $0.value == 0 }.keys.sorted()
        guard let first = unknown.first else { return }
        let more = unknown.count > 1 ? " and \(unknown.count - 1) more" : ""
        throw CommandError(
            status: .noInput, message: "\(first)\(more): nothing of that id in the ledger",
            remedy: "ids are compared as they are written; status --ids and list --ids show them")
    }
}
