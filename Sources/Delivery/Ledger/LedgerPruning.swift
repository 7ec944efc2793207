import SQLite
import Telemetry

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
                [key.identity, key.content, plan.now.seconds])
        }
    }
}
