import ArgumentParser
import Bundle
import Bytes
import Console
import Delivery
import JSONText
import Systems
import Telemetry

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

/// The command `release`, which allows jobs to send held records.
struct ReleaseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "release",
        abstract: "Send records that are held for a reason you accept.",
        discussion: """
            Records of a bundle can be held for reasons, which list, status --ids and send --dry-run show. A record is sent \
            once all its reasons are released.
              pingferry-upload release --reason schema 7F6E2B0C-0D53-4C4E-9C4B-8F6A4B2F0A11
              pingferry-upload release --reason schema --bundle monday.tar.zst

            With a bundle and no ids, all its records that are held for the reason are released. Ids are looked up in the given \
            bundles and in the ledger, which contains the records of all bundles that jobs were given. --force accepts ids that \
            are found in neither, for bundles that will arrive later. If a withdrawal is in another bundle than the records, give \
            both: --bundle monday.tar.zst --bundle tuesday.tar.zst.

            Records that are held as \(Hold.optedOut.code) are data of people who have switched off usage data, and who have \
            declined that it is sent. Releasing them sends it nevertheless.

            The reasons:
            \(holdCodeHelp)
            """)

    @Option(
        help: ArgumentHelp("The accepted reason.", valueName: "code"),
        completion: .list(HoldCodes.releasable(knowing: Systems.table)))
    var reason: String

    @Option(
        help: ArgumentHelp("A bundle that contains the records. (repeatable)", valueName: "bundle"), completion: .file()
    )
    var bundle: [String] = []

    @Flag(help: "Accept ids that are unknown, or not known to be held for the reason.")
    var force = false

    @OptionGroup var edit: EditOptions

    func validate() throws {
        let known = Systems.table.holdCodes.map(\.code)
        guard known.contains(reason) else {
            throw ValidationError("\(reason) is not a reason; the reasons are \(known.joined(separator: ", "))")
        }
        guard HoldCodes.isReleasable(reason, knowing: Systems.table) else {
            throw ValidationError("records that are held as \(reason) cannot be sent")
        }
        if bundle.isEmpty { try edit.requireIDs() }
    }

    mutating func run() async throws {
        bundle = try await reportingErrors { try bundle.flatMap(BundleFile.paths) }
        try await reportingErrors {
            var files = CommandFiles()
            files.read(bundle.flatMap(BundleFile.allPaths))
            try edit.ledger.add(to: &files)
            try files.check()
            let ledger = try edit.openLedger()
            var ids = Set(force ? edit.ids : [])
            if !bundle.isEmpty { ids.formUnion(try await heldIDsInBundles()) }
            if !force { ids.formUnion(try heldIDs(in: ledger, among: edit.ids.filter { !ids.contains($0) })) }
            let counts = try ledger.release(ids.sorted(), heldFor: reason)
            let remark = reason == Hold.optedOut.code ? ": data of a person who declined will be sent" : ""
            try edit.report("record released\(remark)", plural: "records released\(remark)", counts)
        }
    }

    /// Returns the ids of the records in ``bundle`` that are held for ``reason``, limited to any ids given as arguments.
    ///
    /// The bundles are read together, because a withdrawal in one of them holds records of the others.
    private func heldIDsInBundles() async throws -> [String] {
        // Records that were released before are included, so that their ids are not reported as unknown.
        let verified = try await CommonOptions.verifyBundles(
            at: bundle, isQuiet: edit.common.quiet, isReleased: { _, _ in false })
        let records = verified.pool.indices(heldFor: reason, ids: edit.ids.isEmpty ? nil : edit.ids)
        return try records.map { try verified.source.record(at: verified.pool.location(of: $0)).id }
    }

    /// Returns `ids`, after checking that the ledger contains a record with each of them.
    ///
    /// - Throws: `CommandError` if a record is unknown, is held only for other reasons, or is not held and `bundle` is
    ///   not empty.
    private func heldIDs(in ledger: Ledger, among ids: [String]) throws -> [String] {
        let states = try ledger.recordStates(of: ids)
        for id in ids {
            switch states[id] ?? .unknown {
            case .held(let codes) where codes.contains(reason): continue
            case .known where bundle.isEmpty: continue
            case .held(let codes):
                throw CommandError(
                    status: .noInput, message: "\(id): held as \(codes.joined(separator: ", ")), not as \(reason)")
            case .unknown, .known:
                throw CommandError(
                    status: .noInput,
                    message: "\(id): no record with this id is held as \(reason) in "
                        + (bundle.isEmpty ? "the ledger" : "these bundles or the ledger"),
                    remedy: "use list --ids to see the exact ids, or --force to release an unknown id")
            }
        }
        return ids
    }

    /// The lines of `--help` that describe the hold codes.
    private static var holdCodeHelp: String {
        let codes = Systems.table.holdCodes
        let lines = codes.filter { !$0.isFinal }.map { "  \($0.code): it \($0.meaning)" }
        let final = codes.filter(\.isFinal).map { "\($0.code) (it \($0.meaning))" }
        return (lines + ["Never: \(final.joined(separator: "; "))."]).joined(separator: "\n")
    }
}

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
