import Foundation
import GRDB
import Telemetry

/// Reads of a ledger, for jobs that write it and for views that do not.
extension Database {
    /// The knowledge that a plan needs.
    func ledgerState(of pool: CandidatePool, today: Int) throws -> LedgerState {
        var state = LedgerState()
        state.standings = try standings(of: pool.candidates)
        state.deliveredItems = try deliveredItems(of: pool.itemKeys)
        state.refusedItems = try refusedItems()
        state.pauses = try pauses()
        let used = try usage(on: today)
        let names = try clientNames()
        state.flights = try flights(names)
        state.deletedClients = try deletedClients(names, pool.systems)
        for (client, count) in used {
            if let name = names[client] { state.used[name, default: 0] += count }
        }
        return state
    }

    private func standings(of candidates: [Candidate]) throws -> [Standing] {
        let statement = try cachedStatement(sql: "SELECT content, refused, time FROM settled WHERE identity = ?")
        return try candidates.map { candidate in
            var outcome = Standing.Outcome.none
            var other: Int64?
            let rows = try Row.fetchCursor(statement, arguments: [candidate.key.identity.data])
            while let row = try rows.next() {
                if Digest16(bytes: row["content"] as Data) == candidate.key.content {
                    outcome = row["refused"] ? .refused : .delivered
                } else {
                    other = max(other ?? 0, row["time"])
                }
            }
            return Standing(outcome, otherSent: other.flatMap { Timestamp(milliseconds: $0 &* 1000) })
        }
    }

    private func deliveredItems(of keys: [ItemKey]) throws -> [Bool] {
        let statement = try cachedStatement(sql: "SELECT 1 FROM items WHERE key = ?")
        return try keys.map { try Int.fetchOne(statement, arguments: [$0.digest.data]) != nil }
    }

    /// The refused events of lists that are not settled: few, whatever the size of the ledger.
    private func refusedItems() throws -> [DeliveryKey: Set<ItemKey>] {
        // An older ledger that is only looked at has no such table.
        guard try tableExists("refusals") else { return [:] }
        var refused: [DeliveryKey: Set<ItemKey>] = [:]
        let rows = try Row.fetchCursor(self, sql: "SELECT identity, content, item FROM refusals")
        while let row = try rows.next() {
            guard let identity = Digest16(bytes: row["identity"] as Data),
                let content = Digest16(bytes: row["content"] as Data), let item = Digest16(bytes: row["item"] as Data)
            else { continue }
            refused[DeliveryKey(identity: identity, content: content), default: []].insert(ItemKey(digest: item))
        }
        return refused
    }

    /// The clients of all requests for deletion that were settled or are in flight.
    private func deletedClients(_ names: [Int64: ClientName], _ systems: SystemTable) throws -> Set<ClientName> {
        let types = try typeNames().filter {
            systems.precedence(of: $0.value.system).deletionRequests.contains($0.value.name)
        }
        // Nothing is looked through for systems without such requests.
        guard !types.isEmpty else { return [] }
        let rows = try Int64.fetchSet(
            self,
            sql: """
                SELECT client FROM settled WHERE kind IN (SELECT value FROM json_each(:types))
                UNION SELECT client FROM flights WHERE kind IN (SELECT value FROM json_each(:types))
                """, arguments: ["types": "[\(types.keys.sorted().map(String.init).joined(separator: ","))]"])
        return Set(rows.compactMap { names[$0] }.filter { $0.client != nil })
    }

    /// Servers that asked to be left alone, also those whose time is over.
    func pauses() throws -> [Pause] {
        // An older ledger that is only looked at has no such table.
        guard try tableExists("pauses") else { return [] }
        return try Row.fetchAll(self, sql: "SELECT endpoint, noted, until FROM pauses ORDER BY endpoint").map { row in
            Pause(
                endpoint: row["endpoint"], noted: Timestamp(clamping: (row["noted"] as Int64) &* 1000),
                until: Timestamp(clamping: (row["until"] as Int64) &* 1000))
        }
    }

    private func flights(_ names: [Int64: ClientName]) throws -> [DeliveryKey: Flight] {
        var flights: [DeliveryKey: Flight] = [:]
        let rows = try Row.fetchCursor(self, sql: "SELECT * FROM flights")
        while let row = try rows.next() {
            guard let identity = Digest16(bytes: row["identity"] as Data),
                let content = Digest16(bytes: row["content"] as Data), let client = names[row["client"]],
                let time = Timestamp(milliseconds: (row["time"] as Int64) &* 1000)
            else { continue }
            flights[DeliveryKey(identity: identity, content: content)] = Flight(
                client: client, day: row["day"], time: time)
        }
        return flights
    }

    /// The keys of what is in flight.
    func flightKeys() throws -> Set<DeliveryKey> {
        var keys: Set<DeliveryKey> = []
        let rows = try Row.fetchCursor(self, sql: "SELECT identity, content FROM flights")
        while let row = try rows.next() {
            guard let identity = Digest16(bytes: row["identity"] as Data),
                let content = Digest16(bytes: row["content"] as Data)
            else { continue }
            keys.insert(DeliveryKey(identity: identity, content: content))
        }
        return keys
    }

    /// How much of a day's quota each client has had.
    ///
    /// Later days count too: a clock that was set back frees nothing. Days that lie more than one day ahead were counted by
    /// a wrong clock; they count for two days after that was noticed, lest nothing be sent for years.
    func usage(on today: Int) throws -> [Int64: Int] {
        var used: [Int64: Int] = [:]
        let rows = try Row.fetchCursor(
            self,
            sql: """
                SELECT client, sum(taken) AS taken FROM quotas
                WHERE day BETWEEN :today AND :today + 1
                    OR day > :today AND (seen IS NULL OR seen > :today OR :today <= seen + 1)
                GROUP BY client
                """, arguments: ["today": today])
        while let row = try rows.next() { used[row["client"]] = row["taken"] }
        return used
    }

    func clientNames() throws -> [Int64: ClientName] {
        var names: [Int64: ClientName] = [:]
        let rows = try Row.fetchCursor(self, sql: "SELECT id, system, client FROM clients")
        while let row = try rows.next() {
            let system = SystemName(row["system"])
            names[row["id"]] = ClientName(system: system, client: row["client"])
        }
        return names
    }

    func typeNames() throws -> [Int64: TypeName] {
        var names: [Int64: TypeName] = [:]
        let rows = try Row.fetchCursor(self, sql: "SELECT id, system, type FROM kinds")
        while let row = try rows.next() {
            let system = SystemName(row["system"])
            names[row["id"]] = TypeName(system: system, name: row["type"])
        }
        return names
    }

    func releases() throws -> Set<Release> {
        try Set(
            Row.fetchAll(self, sql: "SELECT id, code FROM releases").map { Release(id: $0["id"], code: $0["code"]) })
    }
}

/// A hold that the operator accepts for the records of an id.
struct Release: Sendable, Hashable {
    let id: String
    let code: String
}

extension Digest16 {
    /// The 16 bytes as they stand in a ledger.
    var data: Data {
        withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { Data($0) }
    }
}
