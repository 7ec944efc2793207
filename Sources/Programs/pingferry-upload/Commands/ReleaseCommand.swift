import ArgumentParser
import Bundle
import Console
import Delivery
import JSONText
import Systems
import Telemetry

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
