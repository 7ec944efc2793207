import Bytes
import Hashing
import SQLite
import Telemetry

/// The contents of a ledger that are needed to make a plan.
public struct LedgerState: Sendable {
    /// The history of each candidate, in the order of the pool, or an empty array if no record is settled.
    public var histories: [RecordHistory] = []
    /// Whether each item of the pool was delivered, by the index of the item, or an empty array if none was.
    public var deliveredItems: [Bool] = []
    /// The refused events of each list whose other parts are not settled, by the key of the list.
    public var refusedItems: [RecordKey: Set<Digest16>] = [:]
    /// The uploads that were marked as in flight and are not settled, by key.
    public var inFlight: [RecordKey: InFlightUpload] = [:]
    /// The clients whose remaining records are not sent.
    ///
    /// A request for the deletion of their data was settled or is in flight, or a server accepts no more of their
    /// uploads.
    public var deletedClients: Set<ClientName> = []
    /// The final withdrawals that earlier jobs stored, of the clients and profiles of the pool.
    public var withdrawals: [Withdrawal] = []
    /// The records that are not sent any more, because they alone failed with server errors in several jobs.
    public var setAside: Set<RecordKey> = []
    /// The number of uploads of each client that count toward today's quota.
    public var usedQuotas: [ClientName: Int] = [:]

    /// The pauses requested by servers.
    public var pauses: [Pause] = []

    /// Creates the state of an empty ledger.
    public init() {}

    /// Returns the history of the candidate at `index`, or an empty history if the ledger has no entry.
    func history(of index: Int) -> RecordHistory {
        histories.indices.contains(index) ? histories[index] : RecordHistory()
    }

    func isDelivered(item index: Int) -> Bool { deliveredItems.indices.contains(index) && deliveredItems[index] }
}

/// The entries of a ledger about one record.
public struct RecordHistory: Sendable, Equatable {
    /// The outcome of the record, or `nil` if the record is not settled.
    var outcome: SettledState?
    /// The time at which another payload with the same id was last settled, or `nil` if none was settled.
    var otherPayloadTime: Timestamp?
}

/// The final outcome of a record: a value of the column `refused` in the table of settled records.
enum SettledState: Int {
    /// The record was delivered, or settled because nothing was left to send.
    case delivered = 0
    /// The server refused the record.
    case refused = 1
    /// The operator gave up the record, so that it is never sent.
    case givenUp = 2
}

/// An upload that was marked as in flight and is not settled, so that its outcome is unknown.
public struct InFlightUpload: Sendable, Equatable {
    /// The client whose quota the upload last counted toward.
    public var client: ClientName
    /// The day whose quota the upload last counted toward.
    public var day: Int
    /// The time at which the upload was marked.
    public var time: Timestamp

    /// Returns whether the upload already counts toward the quota of `client` on the day `today`.
    ///
    /// The result is `false` if the upload counts toward a later day because the clock was set back. In this case, it
    /// needs quota of today, which may be used up.
    func isCounted(for client: ClientName, on today: Int) -> Bool { self.client == client && day == today }
}

/// Queries that read the state of a ledger, for jobs and for read-only views.
extension Database {
    func ledgerState(of pool: CandidatePool, today: Int) throws -> LedgerState {
        var state = LedgerState()
        state.histories = try histories(of: pool.candidates)
        state.deliveredItems = try deliveredItems(of: pool.items)
        state.refusedItems = try refusedItems()
        state.pauses = try pauses()
        let names = try clientNames()
        state.inFlight = try inFlightUploads(names)
        state.deletedClients = try deletedClients(names, pool.systems)
        state.withdrawals = try withdrawals(of: pool)
        state.setAside = try setAsideKeys()
        for (client, count) in try usage(on: today) {
            if let name = names[client] { state.usedQuotas[name, default: 0] += count }
        }
        return state
    }

    private func histories(of candidates: [Candidate]) throws -> [RecordHistory] {
        // A new ledger has no settled records, so a query for each of up to a million candidates would find nothing.
        guard try hasRow("SELECT 1 FROM settled", []) else { return [] }
        return try candidates.map { candidate in
            var outcome: SettledState?
            var other: Int64?
            try rows("SELECT content, refused, time FROM settled WHERE identity = ?", [candidate.key.identity]) { row in
                if Digest16(row, at: 0) == candidate.key.content {
                    outcome = SettledState(rawValue: row[1]) ?? .refused
                } else {
                    other = max(other ?? 0, row[2])
                }
            }
            return RecordHistory(outcome: outcome, otherPayloadTime: other.flatMap { Timestamp(seconds: $0) })
        }
    }

    private func deliveredItems(of items: [(key: Digest16, size: UInt32)]) throws -> [Bool] {
        guard try hasRow("SELECT 1 FROM items", []) else { return [] }
        return try items.map { try hasRow("SELECT 1 FROM items WHERE key = ?", [$0.key]) }
    }

    /// Returns the refused events of the lists that are not settled.
    ///
    /// Even a large ledger contains few of them.
    private func refusedItems() throws -> [RecordKey: Set<Digest16>] {
        var refused: [RecordKey: Set<Digest16>] = [:]
        try rows("SELECT identity, content, item FROM refusals") { row in
            guard let key = RecordKey(row, at: 0), let item = Digest16(row, at: 2) else { return }
            refused[key, default: []].insert(item)
        }
        return refused
    }

    /// Returns the clients whose remaining records are not sent.
    ///
    /// A request for the deletion of their data was settled or is in flight, or a server accepts no more of their
    /// uploads.
    private func deletedClients(_ names: [Int64: ClientName], _ systems: SystemTable) throws -> Set<ClientName> {
        var clients = try endedClients()
        let types = try deletionRequestTypes(systems)
        // If no system supports requests for deletion, there are no rows to search for.
        if types != "[]" {
            try rows(
                """
                SELECT client FROM settled WHERE kind IN (SELECT value FROM json_each(?1))
                UNION SELECT client FROM flights WHERE kind IN (SELECT value FROM json_each(?1))
                """, [types]
            ) { clients.insert($0[0]) }
        }
        return Set(clients.compactMap { names[$0] }.filter { $0.client != nil })
    }

    /// Returns the row ids of the clients whose uploads a server no longer accepts.
    func endedClients() throws -> Set<Int64> {
        var clients: Set<Int64> = []
        try rows("SELECT client FROM ended_clients") { clients.insert($0[0]) }
        return clients
    }

    /// Returns the row ids of the types whose records are sent before all other records of their client.
    func typesWithPrecedence(_ systems: SystemTable) throws -> Set<Int64> {
        Set(try typeNames().filter { systems.precedence(of: $0.value.system).first.contains($0.value.name) }.keys)
    }

    /// Returns the row ids of the types that request the deletion of data, as a JSON array.
    func deletionRequestTypes(_ systems: SystemTable) throws -> String {
        let types = try typeNames().filter {
            systems.precedence(of: $0.value.system).deletionRequests.contains($0.value.name)
        }
        return Self.json(types.keys)
    }

    /// Returns row ids as a JSON array, which a statement can pass to `json_each`.
    static func json(_ rows: some Sequence<Int64>) -> String {
        "[\(rows.sorted().map(String.init).joined(separator: ","))]"
    }

    func pauses() throws -> [Pause] {
        var pauses: [Pause] = []
        try rows("SELECT endpoint, noted, until FROM pauses ORDER BY endpoint") { row in
            pauses.append(
                Pause(
                    endpoint: row[0], requestTime: Timestamp(clamping: (row[1] as Int64) &* 1000),
                    endTime: Timestamp(clamping: (row[2] as Int64) &* 1000)))
        }
        return pauses
    }

    private func inFlightUploads(_ names: [Int64: ClientName]) throws -> [RecordKey: InFlightUpload] {
        var uploads: [RecordKey: InFlightUpload] = [:]
        try rows("SELECT identity, content, client, day, time FROM flights") { row in
            guard let key = RecordKey(row, at: 0), let client = names[row[2]], let time = Timestamp(seconds: row[4])
            else { return }
            uploads[key] = InFlightUpload(client: client, day: row[3], time: time)
        }
        return uploads
    }

    /// Returns the number of uploads of each client that count toward the quota of `today`.
    ///
    /// Uploads of later days also count, so that setting back the clock does not free quota. If a day is more than one
    /// day ahead, a clock was wrong. The uploads of that day count only on the day on which this was detected and on
    /// the next day, so that they do not block uploads for years.
    func usage(on today: Int) throws -> [Int64: Int] {
        var used: [Int64: Int] = [:]
        try rows(
            """
            SELECT client, sum(taken) FROM quotas
            WHERE day BETWEEN ?1 AND ?1 + 1 OR day > ?1 AND (seen IS NULL OR seen > ?1 OR ?1 <= seen + 1)
            GROUP BY client
            """, [today]
        ) { used[$0[0]] = $0[1] }
        return used
    }

    func clientNames() throws -> [Int64: ClientName] {
        var names: [Int64: ClientName] = [:]
        try rows("SELECT id, system, ifnull(stored, client) FROM clients") { row in
            names[row[0]] = ClientName(system: SystemName(row[1]), client: row[2])
        }
        return names
    }

    func typeNames() throws -> [Int64: TypeName] {
        var names: [Int64: TypeName] = [:]
        try rows("SELECT id, system, type FROM kinds") { row in
            names[row[0]] = TypeName(system: SystemName(row[1]), name: row[2])
        }
        return names
    }
}
