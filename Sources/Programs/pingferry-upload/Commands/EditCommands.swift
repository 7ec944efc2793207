import ArgumentParser
import Console
import Delivery
import JSONText
import Systems

/// `retry`: lets refused records be sent again.
struct RetryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Let records be sent again that a server refused.",
        discussion: """
            A refusal is final until somebody says otherwise: find out why with status --refused, then name the records. \
            They go with the next job whose bundles hold them.
              pingferry-upload retry 7F6E2B0C-0D53-4C4E-9C4B-8F6A4B2F0A11
            """)

    @OptionGroup var edit: EditOptions

    func run() async throws {
        try await reporting {
            let counts = try edit.ledger.open(mustExist: true).retry(edit.ids)
            try edit.report("record to be sent again", plural: "records to be sent again", counts)
        }
    }
}

/// `release`: lets held records be sent.
struct ReleaseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "release",
        abstract: "Let records be sent that are held for a reason you accept.",
        discussion: """
            A bundle's records are held for reasons that list and send --dry-run show. A record goes once all its reasons \
            are released. Pending events, records without a target, records of a damaged bundle that nothing proves right \
            (unproven) and records with pseudonyms (pseudonymized) cannot be released.
              pingferry-upload release --reason schema 7F6E2B0C-0D53-4C4E-9C4B-8F6A4B2F0A11
            """)

    @Option(
        help: ArgumentHelp(
            "The reason that you accept: schema, too-few-events, foreign-target, delivered, ….", valueName: "code"))
    var reason: String

    @OptionGroup var edit: EditOptions

    func validate() throws {
        guard Holding.isReleasable(reason, knowing: Systems.table) else {
            throw ValidationError("records that are held as \(reason) cannot be sent")
        }
    }

    func run() async throws {
        try await reporting {
            let counts = try edit.ledger.open().release(edit.ids, heldFor: reason)
            try edit.report("record released", plural: "records released", counts, mustBeKnown: false)
        }
    }
}

/// `forget`: lets the ledger forget records.
struct ForgetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "forget",
        abstract: "Forget records, so that they count as never sent.",
        discussion: """
            What was delivered is then sent again if a bundle holds it, under the same id; what was released is held again. \
            Today's quota stays used. Events of lists that were delivered stay so: servers cannot tell \
            that they had them. The address of a server that asked to be left alone makes that forgotten.
              pingferry-upload forget 7F6E2B0C-0D53-4C4E-9C4B-8F6A4B2F0A11
              pingferry-upload forget https://incoming.telemetry.mozilla.org
            """)

    @OptionGroup var edit: EditOptions

    func run() async throws {
        try await reporting {
            let counts = try edit.ledger.open(mustExist: true).forget(edit.ids)
            try edit.report("entry forgotten", plural: "entries forgotten", counts)
        }
    }
}

/// The options of commands that change the ledger by hand.
struct EditOptions: ParsableArguments {
    @Argument(help: ArgumentHelp("Ids of records, as list and status show them.", valueName: "id"))
    var ids: [String]

    @OptionGroup(title: "Ledger") var ledger: LedgerOptions
    @OptionGroup(title: "Common options") var common: CommonOptions

    /// Says what was changed.
    /// - Throws: `CommandError` for ids that the ledger does not know, unless it need not know them.
    func report(_ what: String, plural: String, _ counts: [String: Int], mustBeKnown: Bool = true) throws {
        let total = counts.values.reduce(0, +)
        if common.json {
            try Terminal.print(CanonicalObject(counts: counts))
        } else if !common.quiet {
            try Terminal.print("\(total) \(total == 1 ? what : plural)")
        }
        let unknown = counts.filter { $0.value == 0 }.keys.sorted()
        guard mustBeKnown, let first = unknown.first else { return }
        let more = unknown.count > 1 ? " and \(unknown.count - 1) more" : ""
        throw CommandError(
            status: .noInput, message: "\(first)\(more): nothing of that id in the ledger",
            remedy: "ids are compared as they are written; status --refused and list show them")
    }
}
