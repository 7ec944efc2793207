import Bytes
import SQLite
import Telemetry

/// The storage of waiting records and of the reasons why they wait.
///
/// A waiting record is reported until it is settled, even if later jobs are not given its bundle. No rows are removed
/// while a job sends. Rows of settled records are ignored, and are removed when the next job begins.
extension LedgerJob {
    /// Stores the waiting records of `plan`, replacing the rows that earlier jobs stored for the same bundles.
    mutating func recordWaits(in plan: Plan, _ db: Database) throws {
        let bundles = try plan.pool.bundles.map { try db.rowID(of: $0, at: plan.now) }
        for bundle in Set(bundles) { try db.run("DELETE FROM waits WHERE bundle = ?", [bundle]) }
        try db.run(
            """
            DELETE FROM waits WHERE EXISTS (
                SELECT 1 FROM settled WHERE settled.identity = waits.identity AND settled.content = waits.content)
            """)
        var reasons: [WaitReason: Int64] = [:]
        let waitingIndices = plan.waitingIndices
        try addClients(ofRecordsAt: waitingIndices, in: plan, db)
        for index in waitingIndices.lazy.map({ Int($0) }) {
            let candidate = plan.pool.candidates[index]
            let reason = plan.dispositions[index] == .send ? .notSent : plan.reason(of: index)
            let known = reasons[reason]
            let reasonRow = try known ?? db.rowID(of: reason)
            if known == nil { reasons[reason] = reasonRow }
            let bundle =
                bundles.indices.contains(Int(candidate.location.bundleIndex))
                ? bundles[Int(candidate.location.bundleIndex)] : 0
            try db.run(
                "INSERT OR REPLACE INTO waits VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    candidate.key.identity, candidate.key.content, try rowID(ofType: candidate.typeIndex, db),
                    try rowID(ofClient: candidate.clientIndex, db), bundle, reasonRow,
                    candidate.itemIndices != nil, candidate.time.map { $0 / 1000 },
                ])
        }
        // Bundles without waiting records are not needed any more.
        try db.run("DELETE FROM bundles WHERE id NOT IN (SELECT bundle FROM waits)")
    }

    /// Adds the clients of the records at `indices` in the order of the table's index, in which insertion is fastest.
    private mutating func addClients(ofRecordsAt indices: [UInt32], in plan: Plan, _ db: Database) throws {
        var isWaiting = Array(repeating: false, count: plan.names.clients.count)
        for index in indices { isWaiting[Int(plan.pool.candidates[Int(index)].clientIndex)] = true }
        for client in plan.names.clients.sortedNumbers(where: { isWaiting[$0] }) { _ = try rowID(ofClient: client, db) }
    }
}

extension Plan {
    /// The indices of the records that wait or are planned, roughly sorted by key so that insertion is fast.
    fileprivate var waitingIndices: [UInt32] {
        dispositions.indices.lazy
            .filter { dispositions[$0].isWaiting || dispositions[$0] == .send }
            .map { (start: pool.candidates[$0].key.identity.high, index: UInt32($0)) }
            .sorted { $0.start < $1.start }
            .map(\.index)
    }
}

extension WaitReason {
    /// Reads the code from the given column, and the detail from the next column.
    ///
    /// An empty detail is read as `nil`.
    init(_ row: borrowing DatabaseRow, at column: Int) {
        let detail: String = row[column + 1]
        self.init(code: row[column], detail: detail.isEmpty ? nil : detail)
    }
}

extension Database {
    /// Calls `body` with a row for each group of waiting records that are neither settled nor in flight.
    ///
    /// The columns are the client, type, bundle, code, detail and number of records. Records that are not sent because
    /// a server ended their client are omitted.
    func forEachWait(knowing systems: SystemTable, _ body: (borrowing DatabaseRow) -> Void) throws {
        let ended = try endedClients()
        let typesWithPrecedence = try ended.isEmpty ? [] : self.typesWithPrecedence(systems)
        try rows(
            """
            SELECT client, kind, bundle, code, detail, count(*) FROM waits JOIN reasons ON reasons.id = reason
            WHERE NOT EXISTS (
                SELECT 1 FROM settled WHERE settled.identity = waits.identity AND settled.content = waits.content)
            AND NOT EXISTS (
                SELECT 1 FROM flights
                WHERE flights.identity = waits.identity AND (list OR flights.content = waits.content))
            GROUP BY client, kind, bundle, reason
            """
        ) { row in
            if !ended.contains(row[0]) || typesWithPrecedence.contains(row[1]) { body(row) }
        }
    }

    /// Returns the earliest time of a record of each system that waits, except for those that are held, too old or set aside.
    func oldestWaitingTimes() throws -> [SystemName: Timestamp] {
        var times: [SystemName: Timestamp] = [:]
        try rows(
            """
            SELECT system, min(waits.time) FROM waits
            JOIN clients ON clients.id = waits.client JOIN reasons ON reasons.id = waits.reason
            WHERE waits.time IS NOT NULL AND code NOT IN ('held', 'too-old', 'set-aside')
            AND waits.client NOT IN (SELECT client FROM ended_clients)
            AND NOT EXISTS (
                SELECT 1 FROM settled WHERE settled.identity = waits.identity AND settled.content = waits.content)
            GROUP BY system
            """
        ) { row in times[SystemName(row[0])] = Timestamp(seconds: row[1]) }
        return times
    }

    /// Returns the stored reason why the record with `key` waits, or `nil` if no reason is stored.
    func waitReason(of key: RecordKey) throws -> WaitReason? {
        var reason: WaitReason?
        try rows(
            """
            SELECT code, detail FROM waits JOIN reasons ON reasons.id = reason WHERE identity = ? AND content = ?
            """, key.columns
        ) { reason = WaitReason($0, at: 0) }
        return reason
    }

    fileprivate func rowID(of bundle: BundleName, at now: Timestamp) throws -> Int64 {
        try run(
            """
            INSERT INTO bundles (digest, path, time) VALUES (?, ?, ?)
            ON CONFLICT DO UPDATE SET path = excluded.path, time = excluded.time
            """, [bundle.digest, bundle.path, now.seconds])
        return try first("SELECT id FROM bundles WHERE digest = ?", [bundle.digest]) ?? 0
    }

    func rowID(of reason: WaitReason) throws -> Int64 {
        try rowID(
            find: "SELECT id FROM reasons WHERE code = ? AND detail = ?",
            insert: "INSERT INTO reasons (code, detail) VALUES (?, ?)", [reason.code, reason.detail ?? ""])
    }
}

// MARK: - Withdrawals

/// The storage of final withdrawals, which apply to all later jobs and are never removed.
extension Database {
    /// Stores final withdrawals, and applies the new ones to records that wait because of earlier jobs.
    ///
    /// The first capture in which a job found a withdrawal is kept.
    func store(_ withdrawals: [Withdrawal], knowing systems: SystemTable) throws {
        guard !withdrawals.isEmpty else { return }
        let exempt = Self.json(try typesWithPrecedence(systems))
        for withdrawal in withdrawals {
            let subject = withdrawal.subject
            let (system, id) = (subject.system.description, subject.id.lowercased.string)
            let count = try changeCount(
                running: "INSERT OR IGNORE INTO withdrawals VALUES (?, ?, ?, ?, ?, ?)",
                [
                    system, subject.kind.rawValue, id, withdrawal.reason.rawValue, withdrawal.capture,
                    withdrawal.path,
                ])
            guard count > 0, subject.kind == .client,
                let client: Int64 = try first("SELECT id FROM clients WHERE system = ? AND client = ?", [system, id])
            else { continue }
            switch withdrawal.reason {
            case .deletionRequested:
                try run(
                    "DELETE FROM waits WHERE client = ? AND kind NOT IN (SELECT value FROM json_each(?))",
                    [client, exempt])
            case .forgotten: try holdWaits(ofClient: client, for: withdrawal.reason.rawValue, exempt: exempt)
            case .optedOut: break  // Such a withdrawal is not final.
            }
        }
    }

    /// Adds the hold code `code` to the reasons why the records of a client wait, except for the types in `exempt`.
    private func holdWaits(ofClient client: Int64, for code: String, exempt: String) throws {
        var reasons: [(id: Int64, reason: WaitReason)] = []
        try rows(
            "SELECT DISTINCT reasons.id, code, detail FROM waits JOIN reasons ON reasons.id = reason WHERE client = ?",
            [client]
        ) { reasons.append(($0[0], WaitReason($0, at: 1))) }
        for (id, reason) in reasons where !reason.heldCodes.contains(where: { CapturedText($0) == code }) {
            let held = WaitReason(.held, detail: (reason.heldCodes + [code]).joined(separator: ", "))
            try run(
                """
                UPDATE waits SET reason = ?
                WHERE client = ? AND reason = ? AND kind NOT IN (SELECT value FROM json_each(?))
                """, [try rowID(of: held), client, id, exempt])
        }
    }

    /// Returns the stored withdrawals whose client or profile has records in `pool`.
    ///
    /// Rows that no job can have written are ignored.
    func withdrawals(of pool: CandidatePool) throws -> [Withdrawal] {
        var withdrawals: [Withdrawal] = []
        try rows("SELECT system, kind, id, code, capture, path FROM withdrawals") { row in
            let (id, kind, code) = (row[2] as String, row[1] as String, row[3] as String)
            guard let kind = Withdrawal.Subject.Kind(rawValue: kind), let reason = Withdrawal.Reason(rawValue: code),
                reason.isFinal
            else { return }
            let subject = Withdrawal.Subject(SystemName(row[0]), kind, id: id)
            guard pool.number(of: subject) != nil else { return }
            withdrawals.append(Withdrawal(reason, of: subject, capture: row[4], path: row[5]))
        }
        return withdrawals
    }
}
