import Bytes
import Console
import Delivery
import JSONText
import Systems
import Telemetry

/// The contents of a ledger for display, as tables or as JSON.
struct StatusReport {
    let overview: LedgerOverview
    /// The lowercased ids of the clients to show, or an empty set to show all clients.
    let shownClients: Set<ClientID>
    let now: Timestamp

    private var pauses: [Pause] { overview.pauses.filter { $0.isActive(at: now) } }

    /// Whether the summary line is printed even with `--quiet`.
    var needsAttention: Bool {
        totals.refusedCount > 0 || totals.inFlightCount > 0 || !totals.waitingCounts.withoutHeld.isEmpty
            || !pauses.isEmpty
            || totals.waitingCounts.keys.contains { $0.isReleasable(knowing: Systems.table) }
    }

    private typealias Entry = (group: RecordGroup, counts: RecordCounts)

    private func isShown(_ client: ClientName) -> Bool {
        shownClients.isEmpty || (client.client.map { shownClients.contains(ClientID($0)) } ?? false)
    }

    private var entries: [Entry] {
        overview.counts.filter { isShown($0.key.client) }.map { ($0.key, $0.value) }.sorted { left, right in
            Self.sortKey(of: left.group).lexicographicallyPrecedes(Self.sortKey(of: right.group))
        }
    }

    private func remarks(areRefusals: Bool) -> [ServerRemark] {
        overview.remarks.filter { $0.isRefusal == areRefusals && isShown($0.group.client) }
    }

    private static func sortKey(of group: RecordGroup) -> [String] {
        [group.client.system.description, group.client.client ?? "", group.type.name]
    }

    private static func displayName(of client: ClientName) -> String { client.client ?? "(none)" }

    // MARK: Tables

    /// Prints a row for each client and type, followed by the summary, the pauses and the bundles with waiting records.
    func printTable() throws {
        let entries = entries
        let rows = entries.map { entry in
            [
                entry.group.type.name, "\(entry.counts.deliveredCount)", "\(entry.counts.refusedCount)",
                "\(entry.counts.inFlightCount)", "\(entry.counts.waitingCounts.withoutHeld.totalRecordCount)",
                "\(entry.counts.waitingCounts.onlyHeld.totalRecordCount)",
            ]
        }
        let header = ["type", "delivered", "refused", "in flight", "waiting", "held"]
        let lines = TextTable(header: header, rows: rows).lines
        if !rows.isEmpty { try Terminal.print("  " + lines[0]) }
        for (index, (group, counts)) in entries.enumerated() {
            if index == 0 || entries[index - 1].group.client != group.client {
                let today = overview.uploadsToday[group.client] ?? 0
                let client = "\(group.client.system) \(Self.displayName(of: group.client))"
                try Terminal.print("\(client): \(today.counted("upload")) today")
            }
            try Terminal.print("  " + lines[index + 1])
            try Self.print(reasons: counts.waitingCounts)
        }
        try Terminal.print(summaryLine)
        for line in WrappedText.lines(of: forecast, indent: 0) { try Terminal.print(line) }
        try printSetAside()
        for pause in pauses { try Terminal.print(Phrase.pause(pause)) }
        try printBundles()
    }

    /// The summary, such as `40 delivered, 1 refused, 0 in flight, 12 waiting, 3 held; last job …`.
    var summaryLine: String {
        let totals = totals
        let givenUp = totals.givenUpCount > 0 ? ", \(totals.givenUpCount) given up" : ""
        let last = overview.lastJobTime.map { "; last job \($0)\(lastSuccess(before: $0))" } ?? ""
        let tooOld = totals.waitingCounts.tooOldRecordCount
        let old = tooOld > 0 ? ", \(tooOld) too old" : ""
        let refusals = refusalGroups.isEmpty ? "" : "; \(Phrase.refusals(refusalGroups))"
        let setAside = setAsideGroups.isEmpty ? "" : "; \(Phrase.setAside(setAsideGroups))"
        return """
            \(totals.deliveredCount) delivered, \(totals.refusedCount) refused, \(totals.inFlightCount) in flight, \
            \(totals.waitingCounts.withoutHeld.totalRecordCount) waiting, \(totals.waitingCounts.onlyHeld.totalRecordCount) held\(old)\(givenUp)\(last)\(refusals)\(setAside)
            """
    }

    /// A text about waiting records, such as `about 3 nights left …; the oldest record is 12 days old (mozilla)`.
    ///
    /// It is empty if no record waits, or if only some clients are shown.
    private var forecast: String {
        guard shownClients.isEmpty, nightsLeft > 0 else { return "" }
        let oldest = overview.oldestWaitingTimes.min {
            ($0.value.milliseconds, $0.key) < ($1.value.milliseconds, $1.key)
        }
        let age = oldest.map { entry in
            let days = max(0, (now.milliseconds - entry.value.milliseconds) / 86_400_000)
            return "; the oldest record is \(Int(days).counted("day")) old (\(entry.key))"
        }
        return "about \(nightsLeft.counted("night")) left with the default limits\(age ?? "")"
    }

    private var nightsLeft: Int { overview.nightsLeft(UploadLimits()) }

    /// Returns a phrase about the last successful job, or an empty string if it is the last job, which began at `job`.
    private func lastSuccess(before job: Timestamp) -> String {
        guard let success = overview.lastSuccessTime else { return ", no success yet" }
        return success == job ? "" : ", last success \(success)"
    }

    /// Prints each record of the shown clients that is set aside, with its last answer and the commands that resolve it.
    private func printSetAside() throws {
        for record in setAsideRecords {
            let jobs = record.jobCount.counted("job")
            let text = """
                set aside: \(record.id), \(record.group.type.system) \(record.group.type.name), failed alone in \(jobs); \
                last answer: \(Phrase.lastAnswer(record.answer)); to send it again: \(command("retry", record)); \
                to give it up: \(command("forget --for-good", record))
                """
            for line in WrappedText.lines(of: text, indent: 0) { try Terminal.print(line) }
        }
    }

    /// Returns a command for a record, which is shown on one line so that it can be copied.
    private func command(_ name: String, _ record: FailedRecord) -> String {
        String("\(PingferryUpload.name) \(name) \(record.id)".map { $0 == " " ? WrappedText.noBreakSpace : $0 })
    }

    private var setAsideRecords: [FailedRecord] { overview.setAsideRecords.filter { isShown($0.group.client) } }

    /// Prints the bundles with waiting records, unless there is only one or only some clients are shown.
    private func printBundles() throws {
        guard shownClients.isEmpty, overview.waitingBundles.count > 1 else { return }
        for bundle in overview.waitingBundles {
            try Terminal.print(bundle.name.path)
            let seen = bundle.lastSeen.map { ", last given to a job \($0)" } ?? ""
            try Terminal.print("  digest \(bundle.name.digest.prefix(12))\(seen)")
            try Self.print(reasons: bundle.waitingCounts)
        }
    }

    /// Prints the id of each refused record of the shown clients, followed by the answer from the server.
    func printRefusals() throws {
        let refusals = remarks(areRefusals: true)
        guard !refusals.isEmpty else { return try Terminal.print("nothing refused") }
        for refusal in refusals {
            try Terminal.print(refusal.id)
            let time = refusal.time.map { "\($0): " } ?? ""
            let text =
                "\(refusal.group.type.system) \(refusal.group.type.name): \(time)\(refusal.status) \(refusal.text)"
            for line in WrappedText.lines(of: text, indent: 2) { try Terminal.print(line) }
        }
    }

    /// Prints a line for each reason why records wait, wrapping long lines.
    private static func print(reasons waiting: [WaitReason: Int]) throws {
        for (reason, records) in waiting.sorted(by: { $0.key < $1.key }) {
            let text = "\(CountedList.excerpt(of: reason.text)) \(records)"
            for line in WrappedText.lines(of: text, indent: 4) { try Terminal.print(line) }
        }
    }

    /// The refused records grouped by answer, largest group first.
    private var refusalGroups: [RefusalGroup] {
        Self.groups(remarks(areRefusals: true).map { RefusalKey(status: $0.status, reason: $0.text) })
    }

    /// The records that are set aside, grouped by their last answer, largest group first.
    private var setAsideGroups: [RefusalGroup] {
        Self.groups(setAsideRecords.map { RefusalKey(status: $0.answer.status ?? 0, reason: $0.answer.text) })
    }

    private static func groups(_ answers: [RefusalKey]) -> [RefusalGroup] {
        Dictionary(grouping: answers, by: \.self)
            .map { RefusalGroup(status: $0.key.status, reason: $0.key.reason, recordCount: $0.value.count) }
            .sorted { left, right in
                (right.recordCount, left.status, CapturedText(left.reason))
                    < (left.recordCount, right.status, CapturedText(right.reason))
            }
    }

    private struct RefusalKey: Hashable {
        let status: Int
        @CapturedText var reason: String
    }

    private var totals: RecordCounts {
        entries.reduce(into: RecordCounts()) { totals, entry in
            totals.deliveredCount += entry.counts.deliveredCount
            totals.refusedCount += entry.counts.refusedCount
            totals.inFlightCount += entry.counts.inFlightCount
            totals.givenUpCount += entry.counts.givenUpCount
            totals.waitingCounts.merge(entry.counts.waitingCounts, uniquingKeysWith: +)
        }
    }

    // MARK: JSON

    var json: CanonicalObject {
        let bundles = overview.waitingBundles.map { bundle -> CanonicalObject in
            [
                "digest": bundle.name.digest, "path": bundle.name.path, "seen": bundle.lastSeen?.description,
                "waiting": bundle.waitingCounts.json,
            ]
        }
        let oldest = overview.oldestWaitingTimes.sorted { $0.key < $1.key }.map { system, time -> CanonicalObject in
            ["system": system.description, "time": time.description]
        }
        let setAside = setAsideRecords.map { record -> CanonicalObject in
            var object = record.answer.json
            object.set(record.group)
            object.set("id", record.id)
            object.set("jobs", record.jobCount)
            return object
        }
        return [
            "bundles": bundles, "clients": entries.map(json), "lastEnd": overview.lastEndTime?.description,
            "lastExitStatus": overview.lastExitStatus, "lastJob": overview.lastJobTime?.description,
            "lastSuccess": overview.lastSuccessTime?.description, "nightsLeft": nightsLeft, "oldestWaiting": oldest,
            "pauses": pauses.map(\.json), "refusals": remarks(areRefusals: true).map(Self.json),
            "remarks": remarks(areRefusals: false).map(Self.json), "setAside": setAside,
            "totals": Self.json(totals),
        ]
    }

    private func json(_ group: RecordGroup, _ counts: RecordCounts) -> CanonicalObject {
        var object = Self.json(counts)
        object.set(group)
        object.set("today", overview.uploadsToday[group.client] ?? 0)
        return object
    }

    private static func json(_ counts: RecordCounts) -> CanonicalObject {
        [
            "delivered": counts.deliveredCount, "givenUp": counts.givenUpCount, "inFlight": counts.inFlightCount,
            "refused": counts.refusedCount, "waiting": counts.waitingCounts.json,
        ]
    }

    private static func json(_ remark: ServerRemark) -> CanonicalObject {
        var object: CanonicalObject = [
            "id": remark.id, "reason": remark.text, "status": remark.status, "time": remark.time?.description,
        ]
        object.set(remark.group)
        return object
    }
}

extension CanonicalObject {
    /// Sets the members `client`, `system` and `type`.
    fileprivate mutating func set(_ group: RecordGroup) {
        set("client", group.client.client)
        set("system", group.type.system.description)
        set("type", group.type.name)
    }
}

extension [WaitReason: Int] {
    /// The records that a job may still send, or that need the operator.
    fileprivate var withoutHeld: Self {
        filter { ![Disposition.held.code, Disposition.tooOld.code].contains($0.key.code) }
    }
    fileprivate var tooOldRecordCount: Int { filter { $0.key.code == Disposition.tooOld.code }.totalRecordCount }
    fileprivate var onlyHeld: Self { filter { $0.key.code == Disposition.held.code } }
    fileprivate var totalRecordCount: Int { values.reduce(0, +) }
}

/// The status of a bundle for display, as a line of text or a JSON object.
struct BundleStatusReport {
    let status: BundleStatus
    /// The undelivered records to list, or an empty array if records are not listed.
    var undeliveredRecords: [UndeliveredRecord] = []

    /// The line that `status` prints, such as `monday.tar.zst: done: 7 delivered; held: pending-events 1`.
    var statusLine: String {
        let held = CountedList.text(of: status.heldCounts.sorted { $0.key < $1.key }.map { ($0.key.string, $0.value) })
        let settled =
            [
                (status.deliveredCount, "delivered"), (status.tooOldCount, "too old"),
                (status.excludedCount, "not to be sent any more"),
            ]
            .filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        let left =
            (status.refusedCounts.isEmpty ? [] : [refusalPhrase])
            + (status.inFlightCount > 0 ? ["in flight \(status.inFlightCount)"] : [])
            + [Phrase.reasons(status.waitingCounts)].filter { !$0.isEmpty }
        let parts = [
            left.joined(separator: ", "), settled.joined(separator: ", "), held.isEmpty ? "" : "held: \(held)",
        ].filter { !$0.isEmpty }
        let state = status.isDone ? "done" : "not done"
        return "\(status.name.path): \(state)\(parts.isEmpty ? "" : ": ")\(parts.joined(separator: "; "))"
    }

    /// The lines about withdrawals and copies, such as `  opted-out: tue, Library/Preferences/group.plist (2)`.
    var factLines: [String] { Phrase.facts(status.factCounts).map { "  \($0)" } }

    private var refusalPhrase: String {
        let answers = status.refusedCounts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        let shown = answers.prefix(Phrase.maximumShownRefusals).map {
            answers.count > 1 ? "\($0.key): \($0.value)" : $0.key.string
        }
        let more = answers.count > Phrase.maximumShownRefusals ? ["…"] : []
        return "refused \(status.refusedCounts.values.reduce(0, +)) (\((shown + more).joined(separator: ", ")))"
    }

    var json: CanonicalObject {
        var object: CanonicalObject = [
            "delivered": status.deliveredCount, "digest": status.name.digest, "done": status.isDone,
            "facts": status.factCounts.json, "held": status.heldCounts, "inFlight": status.inFlightCount,
            "over": status.excludedCount, "path": status.name.path, "records": status.recordCount,
            "refused": status.refusedCounts.values.reduce(0, +), "tooOld": status.tooOldCount,
            "waiting": status.waitingCounts.json,
        ]
        if !undeliveredRecords.isEmpty { object.set("ids", undeliveredRecords.map(\.json)) }
        return object
    }
}

/// An undelivered record, and the reason why it is not delivered.
struct UndeliveredRecord {
    let record: Record
    let reason: WaitReason
    /// The withdrawal or the copy because of which the record is not sent, or `nil` for other reasons.
    let fact: DecidingFact?
    /// The last answer to the record, or `nil` if no upload of it has failed.
    let lastAnswer: FailureAnswer?

    /// The lines for the record, with its id in the first line and its type, client, time and reason in the others.
    var lines: [String] {
        let client = record.client.map { ", client \($0)" } ?? ""
        let time = record.time.map { ", \($0)" } ?? ""
        let answer = lastAnswer.map { "; last answer: \(Phrase.lastAnswer($0))" } ?? ""
        let text = "\(record.system) \(record.type)\(client)\(time): \(reason.text)\(answer)"
        return ["  \(record.id)"] + WrappedText.lines(of: text, indent: 4)
    }

    var json: CanonicalObject {
        var object = CanonicalObject(naming: record)
        object.set("code", reason.code)
        object.set("detail", reason.detail)
        if let fact { object.set("fact", fact.json) }
        if let lastAnswer { object.set("lastAnswer", lastAnswer.json) }
        object.set("text", reason.text)
        return object
    }
}

extension FailureAnswer {
    fileprivate var json: CanonicalObject { ["reason": text, "status": status, "time": time?.description] }
}
