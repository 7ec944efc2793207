import Bytes
import Hashing
import SQLite
import Telemetry

/// Changes that the operator makes to individual records.
extension Ledger {
    /// The state of the records with one id.
    public enum RecordState: Sendable, Equatable {
        /// The ledger has no entry for the id.
        case unknown
        /// A record was held when the last job read it. The value contains its remaining hold codes.
        case held([String])
        /// A record was settled, is in flight, was released, or waits for another reason.
        case known
    }

    /// Returns the state of the records with each of `ids`.
    public func recordStates(of ids: [String]) throws(LedgerError) -> [CapturedText: RecordState] {
        try edit { db in
            let types = try db.typeNames().values
            var states: [CapturedText: RecordState] = [:]
            for id in ids {
                states[id] = try db.recordState(of: id, types.map { $0.identity(of: id) })
            }
            return states
        }
    }

    /// Releases the records with the given `ids` from the hold code `code`.
    ///
    /// - Returns: For each id, 0 if the operator had already released it from `code`, or 1 if not.
    public func release(_ ids: [String], heldFor code: String) throws(LedgerError) -> [CapturedText: Int] {
        try edit { db in
            let types = try db.typeNames().values
            let reasons = try db.holdReasons().filter { $0.reason.heldCodes.contains { CapturedText($0) == code } }
            return try db.countByID(ids) { id in
                for type in types { try db.removeHold(code, of: type.identity(of: id), from: reasons) }
                return try db.changeCount(running: "INSERT OR IGNORE INTO releases VALUES (?, ?)", [id, code])
            }
        }
    }

    /// Stores the new path of `bundle`, which is finished and was moved.
    ///
    /// If the operator cannot release a held record of the bundle, the entry of that record is removed.
    public func recordMove(_ bundle: BundleName, to path: String, knowing systems: SystemTable) throws(LedgerError) {
        try edit { db in
            try db.run("UPDATE bundles SET path = ? WHERE digest = ?", [path, bundle.digest])
            for (id, reason) in try db.holdReasons() where !reason.isReleasable(knowing: systems) {
                try db.run(
                    "DELETE FROM waits WHERE reason = ? AND bundle IN (SELECT id FROM bundles WHERE digest = ?)",
                    [id, bundle.digest])
            }
        }
    }

    /// Removes all entries of the records with the given `ids`, so that these records are sent or held again.
    ///
    /// An id can also be the address of a server that requested a pause, or the digest of a bundle with waiting
    /// records. If the answer to a record ended its client, the client's other records are sent again, too. The quota
    /// of the day and the keys of delivered events are unchanged.
    ///
    /// - Returns: For each id, the number of removed entries, or 0 if the ledger has no entry for the id.
    public func forget(_ ids: [String]) throws(LedgerError) -> [CapturedText: Int] {
        try edit { db in
            let types = try db.typeNames().values
            return try db.countByID(ids) { id in
                var (count, otherCount) = (0, 0)
                for type in types {
                    let identity = type.identity(of: id)
                    count += try db.changeCount(running: "DELETE FROM settled WHERE identity = ?", [identity])
                    count += try db.changeCount(running: "DELETE FROM flights WHERE identity = ?", [identity])
                    try db.run("DELETE FROM remarks WHERE identity = ?", [identity])
                    try db.run("DELETE FROM failures WHERE identity = ?", [identity])
                    try db.run("DELETE FROM refusals WHERE identity = ?", [identity])
                    otherCount += try db.changeCount(running: "DELETE FROM waits WHERE identity = ?", [identity])
                    otherCount += try db.changeCount(
                        running: "DELETE FROM ended_clients WHERE identity = ?", [identity])
                }
                count += try db.changeCount(running: "DELETE FROM releases WHERE id = ?", [id])
                otherCount += try db.changeCount(
                    running: "DELETE FROM waits WHERE bundle IN (SELECT id FROM bundles WHERE digest = ?)", [id])
                if let endpoint = Endpoint(id) {
                    count += try db.changeCount(running: "DELETE FROM pauses WHERE endpoint = ?", [endpoint.address])
                }
                // A record that waited or ended its client usually has other entries. It is counted only once.
                return count > 0 ? count : otherCount
            }
        }
    }
}

extension Database {
    fileprivate func holdReasons() throws -> [(id: Int64, reason: WaitReason)] {
        var reasons: [(Int64, WaitReason)] = []
        try rows("SELECT id, detail FROM reasons WHERE code = 'held'") { row in
            let codes: String = row[1]
            reasons.append((row[0], WaitReason(.held, detail: codes)))
        }
        return reasons
    }

    /// Removes the hold code `code` from the stored reason why the record with `identity` is held.
    fileprivate func removeHold(
        _ code: String, of identity: Digest16, from reasons: [(id: Int64, reason: WaitReason)]
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

// MARK: - Pruning

/// Removal of entries that are not needed for any bundle in use.
extension Ledger {
    /// Removes the entries of settled records that no job has read from a bundle for more than `milliseconds`.
    ///
    /// The time is counted back from the last job, so that entries are kept while no job runs. The following entries
    /// are never removed, because records would be sent again otherwise: unresolved refusals, requests for deletion
    /// and other final withdrawals, ended clients, uploads in flight, and the delivered events of lists.
    /// - Returns: The number of records whose entries were removed.
    public func prune(
        unseenFor milliseconds: Int64, knowing systems: SystemTable, at now: Timestamp
    ) throws(LedgerError) -> Int {
        try edit { db in
            // A job whose time is out of range does not limit the age.
            guard let last = Timestamp(seconds: try db.first("SELECT time FROM jobs") ?? .min)?.seconds else {
                return 0
            }
            let kept = try db.deletionRequestTypes(systems)
            let end = min(last, now.seconds) - milliseconds / 1000
            try db.run(
                """
                DELETE FROM remarks WHERE EXISTS (
                    SELECT 1 FROM settled, jobs
                    WHERE settled.identity = remarks.identity AND settled.content = remarks.content AND refused <> 1
                    AND max(settled.time, ifnull(seen, 0)) < ?1
                    AND kind NOT IN (SELECT value FROM json_each(?2)))
                """, [end, kept])
            return try db.changeCount(
                running: """
                    DELETE FROM settled
                    WHERE refused <> 1 AND max(time, ifnull(seen, 0)) < ?1
                    AND kind NOT IN (SELECT value FROM json_each(?2))
                    """, [end, kept])
        }
    }
}

extension LedgerJob {
    /// Stores that a job has read the settled records of `plan`, so that their entries are not pruned.
    func markSeen(settledIn plan: Plan, _ db: Database) throws {
        let keys = plan.dispositions.indices.filter {
            [.delivered, .refused, .givenUp].contains(plan.dispositions[$0])
        }.map { plan.pool.candidates[$0].key }
        for key in keys.sorted() {
            // The time is updated at most once a day, to save writes.
            try db.run(
                "UPDATE settled SET seen = ?3 WHERE identity = ?1 AND content = ?2 AND ifnull(seen, time) < ?3 - 86400",
                key.columns + [plan.now.seconds])
        }
    }
}
