import Console
import Delivery
import JSONText
import Telemetry

/// The contents of a ledger, as tables and as JSON.
struct StatusReport {
    let overview: LedgerOverview
    /// The clients wanted, in lower case; empty for all.
    let clients: Set<String>
    /// The present instant.
    let now: Timestamp

    private var pauses: [Pause] { overview.pauses.filter { $0.isInForce(at: now) } }

    private typealias Entry = (subject: LedgerOverview.Subject, counts: LedgerOverview.Counts)

    private func isWanted(_ client: ClientName) -> Bool { clients.isEmpty || clients.contains(client.client ?? "") }

    private var entries: [Entry] {
        overview.counts.filter { isWanted($0.key.client) }.map { ($0.key, $0.value) }.sorted { left, right in
            Self.order(left.subject).lexicographicallyPrecedes(Self.order(right.subject))
        }
    }

    private func remarks(areRefusals: Bool) -> [LedgerOverview.Remark] {
        overview.remarks.filter { $0.isRefusal == areRefusals && isWanted($0.subject.client) }
    }

    private static func order(_ subject: LedgerOverview.Subject) -> [String] {
        [subject.client.system.description, subject.client.client ?? "", subject.type.name]
    }

    private static func name(_ client: ClientName) -> String { client.client ?? "(none)" }

    // MARK: Tables

    /// Prints a row for each client and type, and the totals.
    func printTable() throws {
        let rows = entries.map { entry in
            [
                Self.name(entry.subject.client), entry.subject.client.system.description, entry.subject.type.name,
                "\(entry.counts.delivered)", "\(entry.counts.refused)", "\(entry.counts.inFlight)",
                "\(entry.counts.waiting.values.reduce(0, +))", "\(overview.today[entry.subject.client] ?? 0)",
                Self.why(entry.counts),
            ]
        }
        if !rows.isEmpty {
            let header = [
                "client", "system", "type", "delivered", "refused", "in flight", "waiting", "client's today", "why",
            ]
            for line in TextTable(header: header, rows: rows).lines { try Terminal.print(line) }
        }
        let totals = totals
        let last = overview.lastJob.map { "; last job \($0)" } ?? ""
        try Terminal.print(
            """
            \(totals.delivered) delivered, \(totals.refused) refused, \(totals.inFlight) in flight, \
            \(totals.waiting.values.reduce(0, +)) waiting\(last)
            """)
        for pause in pauses { try Terminal.print(Phrase.pause(pause)) }
    }

    /// Prints a row for each record that was refused.
    func printRefusals() throws {
        let rows = remarks(areRefusals: true).map { refusal in
            [
                refusal.id, refusal.subject.type.system.description, refusal.subject.type.name, "\(refusal.status)",
                refusal.time?.description ?? "", refusal.text,
            ]
        }
        guard !rows.isEmpty else { return try Terminal.print("nothing refused") }
        for line in TextTable(header: ["id", "system", "type", "status", "time", "reason"], rows: rows).lines {
            try Terminal.print(line)
        }
    }

    private static func why(_ counts: LedgerOverview.Counts) -> String {
        counts.waiting.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
    }

    private var totals: LedgerOverview.Counts {
        entries.reduce(into: LedgerOverview.Counts()) { totals, entry in
            totals.delivered += entry.counts.delivered
            totals.refused += entry.counts.refused
            totals.inFlight += entry.counts.inFlight
            totals.waiting.merge(entry.counts.waiting, uniquingKeysWith: +)
        }
    }

    // MARK: JSON

    /// All of it.
    var json: CanonicalObject {
        var object = CanonicalObject()
        object.set("clients", elements: entries.map(json))
        object.set("lastJob", string: overview.lastJob?.description)
        object.set(pauses)
        object.set("refusals", elements: remarks(areRefusals: true).map(Self.json))
        object.set("remarks", elements: remarks(areRefusals: false).map(Self.json))
        object.set("totals", object: Self.json(totals))
        return object
    }

    private func json(_ entry: Entry) -> [UInt8] {
        var object = Self.json(entry.counts)
        object.set("client", string: entry.subject.client.client)
        object.set("system", string: entry.subject.client.system.description)
        object.set("today", integer: overview.today[entry.subject.client] ?? 0)
        object.set("type", string: entry.subject.type.name)
        return object.bytes
    }

    private static func json(_ counts: LedgerOverview.Counts) -> CanonicalObject {
        var object = CanonicalObject()
        object.set("delivered", integer: counts.delivered)
        object.set("inFlight", integer: counts.inFlight)
        object.set("refused", integer: counts.refused)
        object.set("waiting", object: CanonicalObject(counts: counts.waiting))
        return object
    }

    private static func json(_ remark: LedgerOverview.Remark) -> [UInt8] {
        var object = CanonicalObject()
        object.set("client", string: remark.subject.client.client)
        object.set("id", string: remark.id)
        object.set("reason", string: remark.text)
        object.set("status", integer: remark.status)
        object.set("system", string: remark.subject.type.system.description)
        object.set("time", string: remark.time?.description)
        object.set("type", string: remark.subject.type.name)
        return object.bytes
    }
}
