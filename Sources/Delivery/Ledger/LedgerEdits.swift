import SQLite
import Telemetry

/// Changes that an operator makes by hand, record by record.
extension Ledger {
    /// What the ledger knows of the records of an id.
    public enum RecordState: Sendable, Equatable {
        /// Nothing.
        case unknown
        /// It was held for these codes when a job last saw it.
        case held([String])
        /// It was settled, is in flight, was released, or waits for another reason.
        case known
    }

    /// What the ledger knows of the records of some ids.
    public func recordStates(of ids: [String]) throws(LedgerError) -> [String: RecordState] {
        try edit { db in
            let types = try db.typeNames().values
            var states: [String: RecordState] = [:]
            for id in ids {
                states[id] = try db.recordState(of: id, types.map { $0.identity(of: id) })
            }
            return states
        }
    }

    /// Notes that a job ended with all well.
    public func recordSuccess() throws(LedgerError) {
        try edit { try $0.run("UPDATE jobs SET success = time") }
    }

    /// Lets records be sent that are held for a reason.
    ///
    /// - Returns: 1 for each id that was not released for this reason before.
    public func release(_ ids: [String], heldFor code: String) throws(LedgerError) -> [String: Int] {
        try edit { db in
            let types = try db.typeNames().values
            let reasons = try db.heldReasons().filter { $0.reason.heldCodes.contains(code) }
            return try db.countingByID(ids) { id in
                for type in types { try db.release(type.identity(of: id), of: code, heldFor: reasons) }
                return try db.changeCount(running: "INSERT OR IGNORE INTO releases VALUES (?, ?)", [id, code])
            }
        }
    }

    /// Notes where a bundle lies now that has done its work.
    ///
    /// Its records that an operator can release stay noted. All other records that are held in it are forgotten.
    /// - Parameter systems: says for which reasons records can be released.
    public func recordMove(_ bundle: BundleName, to path: String, knowing systems: SystemTable) throws(LedgerError) {
        try edit { db in
            try db.run("UPDATE bundles SET path = ? WHERE digest = ?", [path, bundle.digest])
            for (id, reason) in try db.heldReasons() where !reason.isReleasable(knowing: systems) {
                try db.run(
                    "DELETE FROM waits WHERE reason = ? AND bundle IN (SELECT id FROM bundles WHERE digest = ?)",
                    [id, bundle.digest])
            }
        }
    }

    /// Forgets all that is known of records: what was delivered is sent again if it is given again, what was released is held
    /// again. The day's quota stays used, and events of lists that were delivered stay so. The address of a server makes its
    /// wish to be left alone forgotten, the digest of a bundle all that waits of it.
    /// - Returns: how many entries of each id there were.
    public func forget(_ ids: [String]) throws(LedgerError) -> [String: Int] {
        try edit { db in
            let types = try db.typeNames().values
            return try db.countingByID(ids) { id in
                var (count, waits) = (0, 0)
                for type in types {
                    let identity = type.identity(of: id)
                    count += try db.changeCount(running: "DELETE FROM settled WHERE identity = ?", [identity])
                    count += try db.changeCount(running: "DELETE FROM flights WHERE identity = ?", [identity])
                    try db.run("DELETE FROM remarks WHERE identity = ?", [identity])
                    try db.run("DELETE FROM refusals WHERE identity = ?", [identity])
                    waits += try db.changeCount(running: "DELETE FROM waits WHERE identity = ?", [identity])
                }
                count += try db.changeCount(running: "DELETE FROM releases WHERE id = ?", [id])
                waits += try db.changeCount(
                    running: "DELETE FROM waits WHERE bundle IN (SELECT id FROM bundles WHERE digest = ?)", [id])
                if let endpoint = Endpoint(id) {
                    count += try db.changeCount(running: "DELETE FROM pauses WHERE endpoint = ?", [endpoint.address])
                }
                // A record that was settled or released since may still stand among those that wait.
                return count > 0 ? count : waits
            }
        }
    }
}

extension Database {
    /// The reasons for which records are held, by the numbers of their rows.
    fileprivate func heldReasons() throws -> [(id: Int64, reason: WaitReason)] {
        var reasons: [(Int64, WaitReason)] = []
        try rows("SELECT id, detail FROM reasons WHERE code = 'held'") { row in
            let codes: String = row[1]
            reasons.append((row[0], WaitReason(.held, detail: codes)))
        }
        return reasons
    }

    /// Takes a code off the reason for which a record is held. One that is held for no other code waits to be sent.
    fileprivate func release(
        _ identity: Digest16, of code: String, heldFor reasons: [(id: Int64, reason: WaitReason)]
    ) throws {
        for (id, held) in reasons {
            let rest = held.heldCodes.filter { $0 != code }
            let reason = rest.isEmpty ? .notSent : WaitReason(.held, detail: rest.joined(separator: ", "))
            try run(
                "UPDATE waits SET reason = ? WHERE identity = ? AND reason = ?", [try rowID(of: reason), identity, id])
        }
    }

    fileprivate func recordState(of id: String, _ identities: [Digest16]) throws -> Ledger.RecordState {
        for identity in identities {
            let held: String? = try first(
                """
                SELECT detail FROM waits JOIN reasons ON reasons.id = reason WHERE identity = ? AND code = 'held'
                """, [identity])
            if let held { return .held(WaitReason(.held, detail: held).heldCodes) }
            let isKnown = try hasRow(
                """
                SELECT 1 FROM waits WHERE identity = ?1 UNION SELECT 1 FROM settled WHERE identity = ?1
                UNION SELECT 1 FROM flights WHERE identity = ?1
                """, [identity])
            if isKnown { return .known }
        }
        return try hasRow("SELECT 1 FROM releases WHERE id = ?", [id]) ? .known : .unknown
    }
}
