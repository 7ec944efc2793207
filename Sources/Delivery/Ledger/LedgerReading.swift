import SQLite
import Telemetry

/// Reads of a ledger, for jobs that write it and for views that do not.
extension Database {
    /// The knowledge that a plan needs.
    func ledgerState(of pool: CandidatePool, today: Int) throws -> LedgerState {
        var state = LedgerState()
        state.histories = try histories(of: pool.candidates)
        state.deliveredItems = try deliveredItems(of: pool.items.keys)
        state.refusedItems = try refusedItems()
        state.pauses = try pauses()
        let used = try usage(on: today)
        let names = try clientNames()
        state.inFlight = try inFlightUploads(names)
        state.deletedClients = try deletedClients(names, pool.systems)
        for (client, count) in used {
            if let name = names[client] { state.used[name, default: 0] += count }
        }
        return state
    }

    private func histories(of candidates: [Candidate]) throws -> [RecordHistory] {
        try candidates.map { candidate in
            var outcome = RecordHistory.Outcome.none
            var other: Int64?
            try rows("SELECT content, refused, time FROM settled WHERE identity = ?", [candidate.key.identity]) { row in
                if Digest16(row, at: 0) == candidate.key.content {
                    outcome = SettledState(rawValue: row[1])?.outcome ?? .refused
                } else {
                    other = max(other ?? 0, row[2])
                }
            }
            return RecordHistory(outcome, otherPayloadTime: other.flatMap { Timestamp(seconds: $0) })
        }
    }

    /// What the column `refused` of settled records says.
    enum SettledState: Int {
        case delivered = 0
        case refused = 1
        case givenUp = 2

        var outcome: RecordHistory.Outcome {
            switch self {
            case .delivered: .delivered
            case .refused: .refused
            case .givenUp: .givenUp
            }
        }
    }

    private func deliveredItems(of keys: [ItemKey]) throws -> [Bool] {
        try keys.map { try hasRow("SELECT 1 FROM items WHERE key = ?", [$0.digest]) }
    }

    /// The refused events of lists that are not settled: few, whatever the size of the ledger.
    private func refusedItems() throws -> [DeliveryKey: Set<ItemKey>] {
        // An older ledger that is only looked at has no such table.
        guard try hasTable("refusals") else { return [:] }
        var refused: [DeliveryKey: Set<ItemKey>] = [:]
        try rows("SELECT identity, content, item FROM refusals") { row in
            guard let key = DeliveryKey(row, at: 0), let item = Digest16(row, at: 2) else { return }
            refused[key, default: []].insert(ItemKey(digest: item))
        }
        return refused
    }

    /// The clients of all requests for deletion that were settled or are in flight.
    private func deletedClients(_ names: [Int64: ClientName], _ systems: SystemTable) throws -> Set<ClientName> {
        let types = try deletionRequestTypes(systems)
        // Nothing is looked through for systems without such requests.
        guard types != "[]" else { return [] }
        var clients: Set<ClientName> = []
        try rows(
            """
            SELECT client FROM settled WHERE kind IN (SELECT value FROM json_each(?1))
            UNION SELECT client FROM flights WHERE kind IN (SELECT value FROM json_each(?1))
            """, [types]
        ) { row in
            if let name = names[row[0]], name.client != nil { clients.insert(name) }
        }
        return clients
    }

    /// Returns the numbers of the types that are requests for deletion, as a JSON array.
    func deletionRequestTypes(_ systems: SystemTable) throws -> String {
        let types = try typeNames().filter {
            systems.precedence(of: $0.value.system).deletionRequests.contains($0.value.name)
        }
        return "[\(types.keys.sorted().map(String.init).joined(separator: ","))]"
    }

    /// Servers that asked to be left alone, also those whose time is over.
    func pauses() throws -> [Pause] {
        // An older ledger that is only looked at has no such table.
        guard try hasTable("pauses") else { return [] }
        var pauses: [Pause] = []
        try rows("SELECT endpoint, noted, until FROM pauses ORDER BY endpoint") { row in
            pauses.append(
                Pause(
                    endpoint: row[0], requested: Timestamp(clamping: (row[1] as Int64) &* 1000),
                    until: Timestamp(clamping: (row[2] as Int64) &* 1000)))
        }
        return pauses
    }

    private func inFlightUploads(_ names: [Int64: ClientName]) throws -> [DeliveryKey: InFlightUpload] {
        var uploads: [DeliveryKey: InFlightUpload] = [:]
        try rows("SELECT identity, content, client, day, time FROM flights") { row in
            guard let key = DeliveryKey(row, at: 0), let client = names[row[2]], let time = Timestamp(seconds: row[4])
            else { return }
            uploads[key] = InFlightUpload(client: client, day: row[3], time: time)
        }
        return uploads
    }

    /// How much of a day's quota each client has had.
    ///
    /// Later days count too: a clock that was set back frees nothing. Days that lie more than one day ahead were counted by
    /// a wrong clock; they count for two days after that was noticed, lest nothing be sent for years.
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
        // An older ledger that is only looked at has no such column.
        let sql: StaticString =
            try hasTable("waits")
            ? "SELECT id, system, ifnull(stored, client) FROM clients" : "SELECT id, system, client FROM clients"
        try rows(sql) { row in names[row[0]] = ClientName(system: SystemName(row[1]), client: row[2]) }
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
