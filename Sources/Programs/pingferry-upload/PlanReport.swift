import Bundle
import Bytes
import Console
import Delivery
import Files
import JSONText
import Telemetry

/// A plan for display, as a table or as JSON.
struct PlanReport {
    let plan: Plan
    /// The parents of bundles that are not among the bundles of the plan.
    let missingParents: [BundleChain.Fault]
    /// A function that returns the name of the setting that provides the credential of an account.
    let settingHint: (Account) -> String

    private var pool: CandidatePool { plan.pool }

    // MARK: Table

    /// Prints a row for each client and type, followed by the summary, the facts that decided about records that are not
    /// sent, the pauses and the missing credentials.
    func printTable() throws {
        let rows = PlanRows(plan)
        if !rows.isEmpty {
            let header = ["client", "system", "type", "uploads", "send", "wait", "done", "why"]
            try TextTable(header: header, rows: rows).forEachLine { line in try Terminal.print(line) }
        }
        try Terminal.print(summaryLine)
        for line in Phrase.facts(plan.decidingFactCounts) { try Terminal.print(line) }
        for pause in plan.pauses { try Terminal.print(Phrase.pause(pause)) }
        for missing in plan.missingCredentials {
            try Terminal.print("for \(missing.account.label) set \(settingHint(missing.account))")
        }
    }

    /// The summary of the plan, such as `46 uploads planned of 120 records: send 44, daily limit 76`.
    var summaryLine: String {
        let send = plan.count(.send)
        let list = [send > 0 ? "send \(send)" : "", Phrase.reasons(plan.reasonCounts)].filter { !$0.isEmpty }
        let counts = list.isEmpty ? "" : ": \(list.joined(separator: ", "))"
        return "\(Phrase.count(plan.uploadCount, "upload")) planned of \(Phrase.count(pool.count, "record"))\(counts)"
    }

    // MARK: JSON

    /// Prints the plan as JSON with the counts, the uploads in order, and the records that are not sent completely.
    func printJSON(_ source: UploadSource) throws {
        var object = CanonicalObject()
        object.set("facts", facts: plan.decidingFactCounts)
        object.set("missingParents", objects: missingParents) { object, fault in
            object.set("bundle", string: fault.bundle)
            object.set("digest", string: fault.digest)
        }
        object.set("reasons", reasons: plan.reasonCounts)
        object.set(waitingIn: plan)
        object.set(plan.pauses)
        object.set("records", integer: pool.count)
        object.set("send", integer: plan.count(.send))
        object.set("time", string: plan.now.description)
        object.set("uploads", integer: plan.uploadCount)
        let sends: CanonicalObject.Elements = { body in
            for queue in plan.queues { for send in queue.sends { try body(Self.uploadJSON(of: send, source)) } }
        }
        let waits: CanonicalObject.Elements = { body in
            for index in plan.dispositions.indices where plan.dispositions[index] != .send {
                try body(waitJSON(of: try source.record(at: pool.location(of: index)), at: index))
            }
        }
        try JSONObjectPrinter.print(object, arrays: [("sends", sends), ("waits", waits)])
    }

    /// Returns the JSON object for `record`, which is not sent completely.
    private func waitJSON(of record: Record, at index: Int) -> CanonicalObject {
        let disposition = plan.dispositions[index]
        var object = CanonicalObject(naming: record)
        object.set("code", string: disposition.code)
        object.set("reason", string: disposition.name)
        if disposition == .held { object.set("held", strings: plan.holds(of: index)) }
        if let fact = plan.decidingFact(of: index) { object.set("fact", object: CanonicalObject(fact)) }
        if disposition == .missingCredential, let account = pool.account(of: index) { object.set(account) }
        return object
    }

    private static func uploadJSON(of send: PlannedUpload, _ source: UploadSource) throws -> CanonicalObject {
        let record = try source.record(of: send)
        var object = CanonicalObject(naming: record)
        object.set("bytes", integer: record.payload.count)
        if !send.items.isEmpty { object.set("events", integer: send.items.count) }
        return object
    }
}

extension CanonicalObject {
    /// Sets the members `held`, which counts the held records for each code, and `missingCredentials`.
    mutating func set(waitingIn plan: Plan) {
        set("held", object: CanonicalObject(counts: plan.holdCounts))
        set("missingCredentials", objects: plan.missingCredentials) { object, missing in
            object.set(missing.account)
            object.set("records", integer: missing.records)
            object.set("system", string: missing.account.system.description)
        }
    }

    /// Creates an object that describes a withdrawal or a copy because of which records are not sent.
    init(_ fact: DecidingFact) {
        self.init()
        set("capture", string: fact.capture)
        set("code", string: fact.code)
        set("copy", boolean: fact.isCopy)
        set("path", string: fact.path)
        set("text", string: fact.text)
    }

    /// Sets the member `key` to an array of facts, each with the number of records about which it decided.
    mutating func set(_ key: JSONKey, facts: [DecidingFact: Int]) {
        set(key, objects: facts.sorted { $0.key < $1.key }) { object, entry in
            object = CanonicalObject(entry.key)
            object.set("records", integer: entry.value)
        }
    }

    /// Sets the member `pauses` to an array with the server and the end of each pause.
    mutating func set(_ pauses: [Pause]) {
        set("pauses", objects: pauses) { object, pause in
            object.set("endpoint", string: pause.endpoint)
            object.set("until", string: pause.endTime.description)
        }
    }

    /// Sets the members `account`, the name of the account, and `development`, whether its development key is used.
    fileprivate mutating func set(_ account: Account) {
        set("account", string: account.name)
        set("development", boolean: account.isDevelopment)
    }
}

/// The phrases that summaries consist of.
///
/// Scripts parse these phrases.
enum Phrase {
    /// Returns a number with a noun, such as `1 record` or `2 records`.
    static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }

    /// Returns the reasons in their order with their counts, such as `daily limit 76, held: schema 1`.
    ///
    /// If there are many reasons, only the most frequent ones are listed.
    static func reasons(_ counts: [WaitReason: Int]) -> String {
        CountedList.text(of: counts.sorted { $0.key < $1.key }.map { ($0.key.text, $0.value) })
    }

    /// Returns a phrase such as `https://h:443 asked to be left alone until 2026-03-02T13:00:00.000Z`.
    static func pause(_ pause: Pause) -> String { "\(pause.endpoint) asked to be left alone until \(pause.endTime)" }

    /// Returns a phrase such as `500 the server is busy or failing, 2026-03-02T13:00:00.000Z`.
    static func lastAnswer(_ answer: FailureAnswer) -> String { answer.phrase + (answer.time.map { ", \($0)" } ?? "") }

    /// Returns a phrase such as `3 records stay refused until retry or forget: 400 no such user (2), 413 too large (1)`.
    static func refusals(_ groups: [RefusalGroup]) -> String { unresolved(groups, "refused") }

    /// Returns a phrase such as `1 record stays set aside until retry or forget: 500 the server is busy or failing (1)`.
    static func setAside(_ groups: [RefusalGroup]) -> String { unresolved(groups, "set aside") }

    private static func unresolved(_ groups: [RefusalGroup], _ state: String) -> String {
        let records = groups.reduce(0) { $0 + $1.recordCount }
        let shown = groups.prefix(maximumShownRefusals).map { "\($0.status) \($0.reason) (\($0.recordCount))" }
        let rest = groups.dropFirst(maximumShownRefusals).reduce(0) { $0 + $1.recordCount }
        let more = rest > 0 ? ["others (\(rest))"] : []
        return "\(stay(records)) \(state) until retry or forget: "
            + (shown + more).joined(separator: ", ")
    }

    private static func stay(_ records: Int) -> String {
        "\(count(records, "record")) stay\(records == 1 ? "s" : "")"
    }

    /// Returns a phrase such as `2 records stay held until release or forget: schema (1), schema+too-few-events (1)`.
    static func heldRecords(_ counts: [CapturedText: Int]) -> String {
        let records = counts.values.reduce(0, +)
        let sorted = counts.sorted { $0.key < $1.key }.map { ($0.key.string, $0.value) }
        let codes = CountedList.entries(of: sorted) { "\($0) (\($1))" }
        return "\(stay(records)) held until release or forget: "
            + codes.joined(separator: ", ")
    }

    /// Returns a line for each code, such as `forgotten: tue, Library/Preferences/com.example.shop.plist (3)`.
    ///
    /// Copies that decided have separate lines, such as `held by a copy in tuesday: opted-out (1)`.
    static func facts(_ counts: [DecidingFact: Int]) -> [String] {
        let groups = Dictionary(grouping: counts) { CapturedText("\($0.key.isCopy ? 1 : 0) \($0.key.code)") }
        return groups.sorted { $0.key < $1.key }.map { _, group in
            let sorted = group.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
            let rest = sorted.dropFirst(maximumShownFacts).reduce(0) { $0 + $1.value }
            let shown = sorted.prefix(maximumShownFacts).map { "\($0.key.text) (\($0.value))" }
            return (shown + (rest > 0 ? ["others (\(rest))"] : [])).joined(separator: "; ")
        }
    }

    /// The maximum number of facts with the same code that are shown in one line.
    static let maximumShownFacts = 3

    /// The maximum number of distinct answers to refused records that are shown in one line.
    static let maximumShownRefusals = 3
}
