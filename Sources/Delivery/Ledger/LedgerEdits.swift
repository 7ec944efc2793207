import SQLite
import Telemetry

/// Changes that an operator makes by hand, record by record.
extension Ledger {
    /// Lets refused records be sent again.
    /// - Returns: how many records of each id were refused.
    /// - Throws: ``LedgerError``.
    public func retry(_ ids: [String]) throws(LedgerError) -> [String: Int] {
        try edit { db in
            try counting(ids) { id in
                try db.run(
                    """
                    DELETE FROM settled
                    WHERE refused = 1
                        AND (identity, content) IN (SELECT identity, content FROM remarks WHERE id = ?)
                    """, [id])
                let count = db.changeCount + (try forgetRefusals(of: id, db))
                try db.run(
                    """
                    DELETE FROM remarks
                    WHERE id = ? AND (identity, content) NOT IN (SELECT identity, content FROM settled)
                    """, [id])
                return count
            }
        }
    }

    /// Lets the refused parts of records be sent again of which other parts are still to be sent.
    private func forgetRefusals(of id: String, _ db: Database) throws -> Int {
        var keys: Set<DeliveryKey> = []
        try db.rows(
            """
            DELETE FROM refusals
            WHERE (identity, content) IN (SELECT identity, content FROM remarks WHERE id = ?)
            RETURNING identity, content
            """, [id]
        ) { row in
            if let key = DeliveryKey(row, at: 0) { keys.insert(key) }
        }
        return keys.count
    }

    /// Lets records be sent that are held for a reason.
    /// - Returns: 1 for each id that was not released for this reason before.
    /// - Throws: ``LedgerError``.
    public func release(_ ids: [String], heldFor code: String) throws(LedgerError) -> [String: Int] {
        try edit { db in
            try counting(ids) { id in
                try db.run("INSERT OR IGNORE INTO releases VALUES (?, ?)", [id, code])
                return db.changeCount
            }
        }
    }

    /// Forgets all that is known of records: what was delivered is sent again if it is given again, what was released is held
    /// again. The day's quota stays used, and events of lists that were delivered stay so. The address of a server makes its
    /// wish to be left alone forgotten.
    /// - Returns: how many entries of each id there were.
    /// - Throws: ``LedgerError``.
    public func forget(_ ids: [String]) throws(LedgerError) -> [String: Int] {
        try edit { db in
            let types = try db.typeNames().values
            return try counting(ids) { id in
                var count = 0
                for type in types {
                    let identity = DeliveryKey.identity(system: type.system, type: type.name, id: id)
                    try db.run("DELETE FROM settled WHERE identity = ?", [identity])
                    count += db.changeCount
                    try db.run("DELETE FROM flights WHERE identity = ?", [identity])
                    count += db.changeCount
                    try db.run("DELETE FROM remarks WHERE identity = ?", [identity])
                    try db.run("DELETE FROM refusals WHERE identity = ?", [identity])
                }
                try db.run("DELETE FROM releases WHERE id = ?", [id])
                count += db.changeCount
                if let endpoint = Endpoint(id) {
                    try db.run("DELETE FROM pauses WHERE endpoint = ?", [endpoint.address])
                    count += db.changeCount
                }
                return count
            }
        }
    }

    private func counting(_ ids: [String], _ body: (String) throws -> Int) rethrows -> [String: Int] {
        var counts: [String: Int] = [:]
        for id in ids { counts[id, default: 0] += try body(id) }
        return counts
    }
}
