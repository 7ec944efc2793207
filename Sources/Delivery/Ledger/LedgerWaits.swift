import SQLite
import Telemetry

/// Keeps in mind which records wait, and why, until they are settled.
///
/// A record that waits stays told until it is settled, whatever bundles later jobs are given. Nothing is taken out while a job
/// sends: a row whose record was settled since counts no more, and goes when the next job begins.
extension LedgerJob {
    /// Notes what of a plan waits, in the place of what was known of its bundles.
    mutating func recordWaits(in plan: Plan, _ db: Database) throws {
        try db.run("DELETE FROM waiting")
        let bundles = try plan.pool.bundles.map { try db.rowID(of: $0, at: plan.now) }
        for bundle in Set(bundles) { try db.run("DELETE FROM waits WHERE bundle = ?", [bundle]) }
        try db.run(
            """
            DELETE FROM waits WHERE EXISTS (
                SELECT 1 FROM settled WHERE settled.identity = waits.identity AND settled.content = waits.content)
            """)
        var reasons: [WaitReason: Int64] = [:]
        for index in plan.waitingIndices {
            let candidate = plan.pool.candidates[index]
            let reason = plan.dispositions[index] == .send ? .notSent : plan.reason(of: index)
            if reasons[reason] == nil { reasons[reason] = try db.rowID(of: reason) }
            let bundle =
                bundles.indices.contains(Int(candidate.location.bundle)) ? bundles[Int(candidate.location.bundle)] : 0
            try db.run(
                "INSERT OR REPLACE INTO waits VALUES (?, ?, ?, ?, ?, ?, ?)",
                [
                    candidate.key.identity, candidate.key.content, try rowID(ofType: candidate.type, db),
                    try rowID(ofClient: candidate.client, db), bundle, reasons[reason] ?? 0, candidate.items != nil,
                ])
        }
        // Nothing names the others any more.
        try db.run("DELETE FROM bundles WHERE id NOT IN (SELECT bundle FROM waits)")
    }
}

extension Plan {
    /// The numbers of the records that wait or are to be sent, in the order of their keys, in which the ledger takes them
    /// fastest.
    fileprivate var waitingIndices: [Int] {
        dispositions.indices.filter { dispositions[$0].isWaiting || dispositions[$0] == .send }
            .sorted { pool.candidates[$0].key < pool.candidates[$1].key }
    }
}

extension WaitReason {
    /// Reads the code from a column and the detail from the next one, which is empty if there is no more to say.
    init(_ row: borrowing DatabaseRow, at column: Int) {
        let detail: String = row[column + 1]
        self.init(code: row[column], detail: detail.isEmpty ? nil : detail)
    }
}

extension Database {
    /// Reads how many records wait, neither settled nor in flight: client, type, bundle, code, detail and records a row.
    func waits(_ body: (borrowing DatabaseRow) -> Void) throws {
        try rows(
            """
            SELECT client, kind, bundle, code, detail, count(*) FROM waits JOIN reasons ON reasons.id = reason
            WHERE NOT EXISTS (
                SELECT 1 FROM settled WHERE settled.identity = waits.identity AND settled.content = waits.content)
            AND NOT EXISTS (
                SELECT 1 FROM flights
                WHERE flights.identity = waits.identity AND (list OR flights.content = waits.content))
            GROUP BY client, kind, bundle, reason
            """, [], body)
    }

    /// Why a record waits, as the last job that saw it found; nil if none did.
    func waitReason(of key: DeliveryKey) throws -> WaitReason? {
        var reason: WaitReason?
        try rows(
            """
            SELECT code, detail FROM waits JOIN reasons ON reasons.id = reason WHERE identity = ? AND content = ?
            """, [key.identity, key.content]
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
        try LedgerJob.rowID(
            self, find: "SELECT id FROM reasons WHERE code = ? AND detail = ?",
            insert: "INSERT INTO reasons (code, detail) VALUES (?, ?)", [reason.code, reason.detail ?? ""])
    }
}
