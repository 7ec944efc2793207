import Bytes
import SQLite
import Telemetry

/// The state of a running job that is needed to apply its changes to the ledger.
struct LedgerJob: Sendable {
    private let names: PlanNames
    private let rules: PlanRules
    /// The row id of each client in the ledger, or 0 if the row has not been looked up.
    private var clients: [Int64]
    /// The row id of each type in the ledger, or 0 if the row has not been looked up.
    private var types: [Int64]
    /// Whether a client whose row has not been looked up can have one.
    ///
    /// In a new ledger, a lookup for each of up to a million clients would find nothing.
    private var hasOtherClients: Bool
    /// The used part of the day's quota, or `nil` if it has to be read from the ledger.
    private var usage: Usage?

    /// A superset of the keys of all uploads in flight, or `nil` if the keys are unknown.
    private var inFlightKeys: Set<RecordKey>?

    private struct Usage {
        let day: Int
        var used: [Int64: Int]
        var total: Int

        init(on day: Int, _ db: Database) throws {
            self.day = day
            used = try db.usage(on: day)
            total = used.values.saturatedSum
        }
    }

    private static let quotaRetentionDays = 60

    /// Begins the job with the given number.
    init(_ plan: Plan, number: Int, _ db: Database) throws {
        names = plan.names
        rules = plan.rules
        clients = Array(repeating: 0, count: plan.names.clients.count)
        types = Array(repeating: 0, count: plan.names.types.values.count)
        hasOtherClients = try db.hasRow("SELECT 1 FROM clients", [])
        let today = plan.rules.days.day(of: plan.now)
        inFlightKeys = try db.keys("SELECT identity, content FROM flights")
        // Uploads that an earlier job left in flight may have arrived.
        try db.run("UPDATE flights SET uncertain = 1")
        try db.run("UPDATE quotas SET seen = ?1 WHERE day > ?1 + 1 AND (seen IS NULL OR seen > ?1)", [today])
        // The earlier day is used, because a clock that is years ahead for one night must not remove current quotas.
        let lastDay = min(today, try db.first("SELECT day FROM jobs") ?? today)
        try db.run("DELETE FROM quotas WHERE day < ?", [lastDay - Self.quotaRetentionDays])
        try db.run(
            """
            INSERT INTO jobs (id, time, day, number) VALUES (1, ?, ?, ?)
            ON CONFLICT DO UPDATE SET
                time = excluded.time, day = excluded.day, ended = NULL, number = excluded.number
            """, [plan.now.seconds, today, number])
        try db.run("DELETE FROM pauses WHERE until <= ?", [plan.now.seconds])
        for record in plan.settlements { try settle(record, status: 0, isRefused: false, at: plan.now, db) }
        try markSeen(settledIn: plan, db)
        try db.store(plan.pool.withdrawals.sortedFinal, knowing: plan.pool.systems)
        try recordWaits(in: plan, db)
    }

    /// Discards the cached state after a failed transaction, because it may differ from the ledger.
    mutating func forgetState() {
        usage = nil
        inFlightKeys = nil
        clients = Array(repeating: 0, count: clients.count)
        types = Array(repeating: 0, count: types.count)
        hasOtherClients = true
    }

    // MARK: Marking

    /// Marks an upload as in flight, or returns `false` if the day's quota is used up.
    mutating func mark(_ send: PlannedUpload, at now: Timestamp, _ db: Database) throws -> Bool {
        let day = rules.days.day(of: now)
        let client = try rowID(ofClient: send.record.clientIndex, db)
        let isCounted =
            try (inFlightKeys?.contains(send.key) ?? true)
            && db.hasRow(
                "SELECT 1 FROM flights WHERE identity = ? AND content = ? AND client = ? AND day = ?",
                send.key.columns + [client, day])
        // The planner uses the same rule in `InFlightUpload.isCounted(for:on:)`.
        guard try isCounted || useQuota(client, on: day, db) else { return false }
        try db.run(
            """
            INSERT INTO flights VALUES (?, ?, ?, ?, ?, ?, 0)
            ON CONFLICT DO UPDATE SET day = excluded.day, client = excluded.client, time = excluded.time
            """,
            [
                send.key.identity, send.key.content, try rowID(ofType: send.record.typeIndex, db), client, day,
                now.seconds,
            ])
        inFlightKeys?.insert(send.key)
        return true
    }

    private mutating func useQuota(_ client: Int64, on day: Int, _ db: Database) throws -> Bool {
        // The value is removed from the property so that changing it does not copy it.
        var usage = try self.usage.take() ?? Usage(on: day, db)
        if usage.day != day { usage = try Usage(on: day, db) }
        defer { self.usage = usage }
        if let daily = rules.limits.daily {
            let used = rules.limits.scope == .client ? usage.used[client, default: 0] : usage.total
            guard used < daily else { return false }
        }
        usage.used[client, default: 0] += 1
        usage.total = usage.total.addingSaturated(1)
        try db.run(
            "INSERT INTO quotas (day, client, taken) VALUES (?, ?, 1) ON CONFLICT DO UPDATE SET taken = taken + 1",
            [day, client])
        return true
    }

    // MARK: Settling

    /// Stores the outcome of an upload, and settles its record if the upload completes it.
    mutating func settle(_ settlement: Settlement, at now: Timestamp, _ db: Database) throws {
        let (send, record) = (settlement.send, settlement.send.record)
        if let pause = settlement.pause { try insert(pause, db) }
        if settlement.endsClient {
            // An earlier answer may have ended the client.
            try db.run(
                "INSERT OR IGNORE INTO ended_clients VALUES (?, ?, ?)",
                [try rowID(ofClient: record.clientIndex, db), record.key.identity, now.seconds])
        }
        switch settlement.outcome {
        case .delivered(let status, let note):
            try clearInFlight(send, db)
            for item in send.items { try db.run("INSERT OR IGNORE INTO items VALUES (?)", [item.key]) }
            // A remark of the server does not replace the reason of a refusal.
            if let note,
                try !db.hasRow("SELECT 1 FROM refusals WHERE identity = ? AND content = ?", record.key.columns)
            {
                try insertRemark(settlement, note, db)
            }
            if send.completesRecord { try settle(record, status: status, isRefused: false, at: now, db) }
        case .refused(let status, let reason):
            try clearInFlight(send, db)
            try insertRemark(settlement, reason, db)
            if send.completesRecord { return try settle(record, status: status, isRefused: true, at: now, db) }
            // The refused events are stored until all parts of the record are settled.
            for item in send.items {
                try db.run(
                    "INSERT OR IGNORE INTO refusals VALUES (?, ?, ?, ?)", record.key.columns + [item.key, status])
            }
        case .retryLater, .credentialWrong(_, _, mayHaveArrived: false):
            try cancelMark(send, db)
            try storeFailure(of: settlement, at: now, db)
        case .unknown, .credentialWrong:
            try storeFailure(of: settlement, at: now, db)
            try db.run("UPDATE flights SET uncertain = 1 WHERE identity = ? AND content = ?", send.key.columns)
        }
    }

    /// Stores `pause`, unless a pause of the same server that ends later is stored.
    private func insert(_ pause: Pause, _ db: Database) throws {
        // A stored pause that was requested more than a day in the future is replaced, because the clock was wrong.
        try db.run(
            """
            INSERT INTO pauses (endpoint, noted, until) VALUES (?1, ?2, ?3)
            ON CONFLICT DO UPDATE SET noted = excluded.noted, until = excluded.until
            WHERE excluded.until > until OR noted > excluded.noted + ?4
            """,
            [
                pause.endpoint, pause.requestTime.seconds, pause.endTime.seconds,
                PlanRules.clockToleranceMilliseconds / 1000,
            ])
    }

    /// Settles a record.
    ///
    /// The record is marked as refused if `isRefused` is `true`, or if it is a list of which a part was refused.
    private mutating func settle(
        _ record: Candidate, status: Int, isRefused: Bool, at now: Timestamp, _ db: Database
    ) throws {
        let key = record.key.columns
        let (type, client) = (try rowID(ofType: record.typeIndex, db), try rowID(ofClient: record.clientIndex, db))
        var refusal: Int?
        if record.itemIndices != nil {
            // Parts that are still in flight are not sent again, because other requests may have delivered their events.
            try db.run("DELETE FROM flights WHERE identity = ?", [record.key.identity])
            refusal = try db.first("DELETE FROM refusals WHERE identity = ? AND content = ? RETURNING status", key)
        }
        try db.run("DELETE FROM failures WHERE identity = ? AND content = ?", key)
        try db.run(
            """
            INSERT INTO settled (identity, content, kind, client, time, status, refused) VALUES (?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT DO UPDATE SET time = excluded.time, status = excluded.status, refused = excluded.refused
            WHERE refused = 0
            """, key + [type, client, now.seconds, refusal ?? status, isRefused || refusal != nil])
    }

    private func insertRemark(_ settlement: Settlement, _ text: String, _ db: Database) throws {
        let values: [any DatabaseValue] = [settlement.recordID, text]
        try db.run("INSERT OR REPLACE INTO remarks VALUES (?, ?, ?, ?)", settlement.send.record.key.columns + values)
    }

    private mutating func clearInFlight(_ send: PlannedUpload, _ db: Database) throws {
        inFlightKeys?.remove(send.key)
        try db.run("DELETE FROM flights WHERE identity = ? AND content = ?", send.key.columns)
    }

    /// Removes the in-flight mark of an upload and frees its quota, unless an earlier attempt may have arrived.
    private mutating func cancelMark(_ send: PlannedUpload, _ db: Database) throws {
        var flight: (client: Int64, day: Int)?
        try db.rows(
            "DELETE FROM flights WHERE identity = ? AND content = ? AND uncertain = 0 RETURNING client, day",
            send.key.columns
        ) { flight = ($0[0], $0[1]) }
        guard let flight else { return }
        try db.run(
            "UPDATE quotas SET taken = taken - 1 WHERE day = ? AND client = ? AND taken > 0",
            [flight.day, flight.client])
        // The cached quota may belong to another day.
        usage = nil
    }

    // MARK: Names

    mutating func rowID(ofClient number: UInt32, _ db: Database) throws -> Int64 {
        if clients[Int(number)] != 0 { return clients[Int(number)] }
        let name = names.clients[number]
        // SQLite uses the index `client_names` only if these expressions are the same as in the index.
        let find: StaticString = """
            SELECT id FROM clients
            WHERE system = ?1 AND ifnull(client, '') = ifnull(?2, '') AND (client IS NULL) = (?3 IS NULL)
            """
        clients[Int(number)] = try db.rowID(
            find: hasOtherClients ? find : nil, insert: "INSERT INTO clients (system, client, stored) VALUES (?, ?, ?)",
            [name.system.description, name.id?.lowercased.string, name.client])
        return clients[Int(number)]
    }

    mutating func rowID(ofType number: UInt32, _ db: Database) throws -> Int64 {
        if types[Int(number)] != 0 { return types[Int(number)] }
        let type = names.types[number]
        types[Int(number)] = try db.rowID(
            find: "SELECT id FROM kinds WHERE system = ? AND type = ?",
            insert: "INSERT INTO kinds (system, type) VALUES (?, ?)", [type.system.description, type.name])
        return types[Int(number)]
    }
}

extension Database {
    /// Returns the row id that `find` returns, or that of a new row, which `insert` adds.
    ///
    /// If `find` is `nil`, there is no such row yet.
    func rowID(find: StaticString?, insert: StaticString, _ values: [any DatabaseValue]) throws -> Int64 {
        if let find, let row: Int64 = try first(find, values) { return row }
        try run(insert, values)
        return lastInsertedRow
    }
}
