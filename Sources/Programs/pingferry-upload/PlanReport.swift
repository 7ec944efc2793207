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
        return "\(plan.uploadCount.counted("upload")) planned of \(pool.count.counted("record"))\(counts)"
    }

    // MARK: JSON

    /// Prints the plan as JSON with the counts, the uploads in order, and the records that are not sent completely.
    func printJSON(_ source: UploadSource) throws {
        let missingParents = missingParents.map { fault -> CanonicalObject in
            ["bundle": fault.bundle, "digest": fault.digest]
        }
        var object: CanonicalObject = [
            "facts": plan.decidingFactCounts.json, "missingParents": missingParents,
            "pauses": plan.pauses.map(\.json), "reasons": plan.reasonCounts.json, "records": pool.count,
            "send": plan.count(.send), "time": plan.now.description, "uploads": plan.uploadCount,
        ]
        object.set(waitingIn: plan)
        let sends: CanonicalObject.Elements = { body in
            for queue in plan.queues { for send in queue.sends { try body(Self.uploadJSON(of: send, source)) } }
        }
        let waits: CanonicalObject.Elements = { body in
            for index in plan.dispositions.indices where plan.dispositions[index] != .send {
                try body(waitJSON(of: try source.record(at: pool.location(of: index)), at: index))
            }
        }
        try JSONResult.print(object, arrays: [("sends", sends), ("waits", waits)], as: .plan)
    }

    /// Returns the JSON object for `record`, which is not sent completely.
    private func waitJSON(of record: Record, at index: Int) -> CanonicalObject {
        let disposition = plan.dispositions[index]
        var object = CanonicalObject(naming: record)
        object.set("code", disposition.code)
        object.set("reason", disposition.name)
        if disposition == .held { object.set("held", plan.holds(of: index)) }
        if let fact = plan.decidingFact(of: index) { object.set("fact", fact.json) }
        if disposition == .missingCredential, let account = pool.account(of: index) { object.set(account) }
        return object
    }

    private static func uploadJSON(of send: PlannedUpload, _ source: UploadSource) throws -> CanonicalObject {
        let record = try source.record(of: send)
        var object = CanonicalObject(naming: record)
        object.set("bytes", record.payload.count)
        if !send.items.isEmpty { object.set("events", send.items.count) }
        return object
    }
}

extension CanonicalObject {
    /// Sets the members `held`, which counts the held records for each code, and `missingCredentials`.
    mutating func set(waitingIn plan: Plan) {
        set("held", plan.holdCounts)
        let missing = plan.missingCredentials.map { missing -> CanonicalObject in
            var object: CanonicalObject = [
                "records": missing.records, "system": missing.account.system.description,
            ]
            object.set(missing.account)
            return object
        }
        set("missingCredentials", missing)
    }

    /// Sets the members `account`, the name of the account, and `development`, whether its development key is used.
    fileprivate mutating func set(_ account: Account) {
        set("account", account.name)
        set("development", account.isDevelopment)
    }
}

/// The rows of a plan's table, one for each client and type, sorted by the ids of the clients.
///
/// A row is created when it is accessed, because a plan can have millions of clients.
private struct PlanRows {
    private let plan: Plan
    /// The indices of all records, sorted by client and type.
    private let records: [UInt32]
    /// The index in `records` of the first record of each row, followed by the total number of records.
    private let bounds: [UInt32]
    /// The number of planned uploads of each record, at the index of the record in the plan.
    private let uploadCounts: [Int]

    init(_ plan: Plan) {
        self.plan = plan
        uploadCounts = plan.uploadCountsByRecord
        let (clientRanks, typeRanks) = (plan.names.clientRanks, plan.names.typeRanks)
        func rank(_ record: UInt32) -> (UInt32, UInt32, UInt32) {
            let group = plan.clientAndType(ofRecordAt: Int(record))
            return (clientRanks[Int(group.client)], typeRanks[Int(group.type)], record)
        }
        let records = (0..<UInt32(plan.dispositions.count)).sorted { rank($0) < rank($1) }
        let starts = records.indices.filter { index in
            index == 0
                || plan.clientAndType(ofRecordAt: Int(records[index]))
                    != plan.clientAndType(ofRecordAt: Int(records[index - 1]))
        }
        self.records = records
        bounds = starts.map { UInt32($0) } + [UInt32(records.count)]
    }
}

extension PlanRows: RandomAccessCollection {
    var startIndex: Int { 0 }
    var endIndex: Int { bounds.count - 1 }

    subscript(index: Int) -> [String] {
        let records = records[Int(bounds[index])..<Int(bounds[index + 1])].map { Int($0) }
        func count(_ isIncluded: (Disposition) -> Bool) -> String {
            "\(records.count { isIncluded(plan.dispositions[$0]) })"
        }
        let (client, type) = plan.clientAndType(ofRecordAt: records[0])
        let groups = records.map { plan.group(ofRecordAt: $0) }.filter { $0.disposition != .send }
        let reasons = Dictionary(grouping: groups) { $0 }.map { (name: plan.reason(of: $0).text, count: $1.count) }
            .sorted { CapturedText($0.name) < CapturedText($1.name) }
        let uploads = records.reduce(0) { $0 + uploadCounts[$1] }
        return [
            plan.names.clients.id(ofClient: Int(client)) ?? PlanNames.noClient,
            plan.names.types[type].system.description,
            plan.names.types[type].name, "\(uploads)", count { $0 == .send }, count(\.isWaiting),
            count { $0 != .send && !$0.isWaiting }, CountedList.text(of: reasons),
        ]
    }
}

extension PlanNames {
    /// The text that is shown instead of an id for records without a client id.
    fileprivate static let noClient = "(none)"

    /// The position of each client if the clients are sorted by the bytes of their ids, and then by system.
    fileprivate var clientRanks: [UInt32] {
        let noClient = Array(Self.noClient.utf8)[...]
        func id(_ client: UInt32) -> ArraySlice<UInt8> {
            let id = clients.idBytes(ofClient: Int(client))
            return id.isEmpty && clients.id(ofClient: Int(client)) == nil ? noClient : id
        }
        let sorted = (0..<UInt32(clients.count)).sorted { left, right in
            let (first, second) = (id(left), id(right))
            return first.lexicographicallyPrecedes(second)
                || !second.lexicographicallyPrecedes(first)
                    && clients.system(ofClient: Int(left)) < clients.system(ofClient: Int(right))
        }
        return Self.ranks(sorted)
    }

    /// The position of each type if the types are sorted by name.
    fileprivate var typeRanks: [UInt32] {
        Self.ranks((0..<UInt32(types.values.count)).sorted { types[$0].name < types[$1].name })
    }

    private static func ranks(_ sorted: [UInt32]) -> [UInt32] {
        var ranks = [UInt32](repeating: 0, count: sorted.count)
        for (rank, number) in sorted.enumerated() { ranks[Int(number)] = UInt32(rank) }
        return ranks
    }
}
