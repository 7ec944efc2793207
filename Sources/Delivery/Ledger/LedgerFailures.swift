import Bytes
import SQLite
import Telemetry

/// An undelivered record whose last upload failed, with the last answer.
public struct FailedRecord: Sendable, Equatable {
    /// The client and the type of the record.
    public let group: LedgerOverview.RecordGroup
    /// The id of the record.
    public let id: String
    /// The last answer.
    public let answer: FailureAnswer
    /// The number of jobs in which the record alone failed with a server error.
    public let jobCount: Int

    /// The number of jobs in which a record alone fails with a server error before it is set aside.
    static let maximumJobCount = 3
}

/// The last answer to an upload that failed.
public struct FailureAnswer: Sendable, Equatable {
    /// The HTTP status, or `nil` if there was no answer.
    public let status: Int?
    /// The reason, which may contain text from the server.
    public let text: String
    /// The time of the answer, or `nil` if the stored time is invalid.
    public let time: Timestamp?

    /// The answer for display, such as `500 the server is busy or failing`.
    public var phrase: String { status.map { "\($0) \(text)" } ?? text }

    /// Reads the status, the text and the time from three columns, the first of which is `column`.
    init(_ row: borrowing DatabaseRow, at column: Int) {
        (status, text, time) = (row[column], row[column + 1], Timestamp(seconds: row[column + 2]))
    }
}

extension LedgerView {
    /// Returns the records that are set aside, grouped by their last answer, largest group first.
    public func setAsideRecords() throws(LedgerError) -> [RefusalGroup] {
        try read { db in
            var groups: [RefusalGroup] = []
            try db.rows(
                """
                SELECT ifnull(status, 0), text, count(*) FROM failures WHERE jobs >= ?
                GROUP BY status, text ORDER BY count(*) DESC, status, text
                """, [FailedRecord.maximumJobCount]
            ) { groups.append(RefusalGroup(status: $0[0], reason: $0[1], recordCount: $0[2])) }
            return groups
        }
    }
}

extension Ledger {
    /// Counts the job for the records that alone failed with a server error in it, and sets aside those that reach the
    /// limit.
    public func countLoneFailures(in report: JobReport) throws(LedgerError) {
        guard !report.loneFailures.isEmpty else { return }
        try edit { db in
            let setAside = try db.rowID(of: WaitReason(.setAside))
            for key in report.loneFailures {
                try db.run(
                    "UPDATE failures SET jobs = jobs + 1 WHERE identity = ? AND content = ?",
                    [key.identity, key.content])
                try db.run(
                    """
                    UPDATE waits SET reason = ?3 WHERE identity = ?1 AND content = ?2 AND EXISTS (
                        SELECT 1 FROM failures WHERE identity = ?1 AND content = ?2 AND jobs >= ?4)
                    """, [key.identity, key.content, setAside, FailedRecord.maximumJobCount])
            }
        }
    }
}

extension LedgerJob {
    /// Stores the answer to an upload that failed, unless no request was made or answered.
    mutating func storeFailure(of settlement: Settlement, at now: Timestamp, _ db: Database) throws {
        guard settlement.attempt == .complete, let reason = settlement.outcome.reason else { return }
        let send = settlement.send
        try db.run(
            """
            INSERT INTO failures VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0)
            ON CONFLICT DO UPDATE SET status = excluded.status, text = excluded.text, time = excluded.time
            """,
            [
                send.recordKey.identity, send.recordKey.content, try rowID(ofType: send.typeIndex, db),
                try rowID(ofClient: send.clientIndex, db), settlement.recordID, settlement.outcome.status, reason,
                now.seconds,
            ])
    }
}

extension Database {
    /// Returns the keys of the records that are set aside.
    func setAsideKeys() throws -> Set<DeliveryKey> {
        try keys("SELECT identity, content FROM failures WHERE jobs >= ?", [FailedRecord.maximumJobCount])
    }

    /// Returns the last answer to each undelivered record, by the key of the record.
    func lastAnswers() throws -> [DeliveryKey: FailureAnswer] {
        var answers: [DeliveryKey: FailureAnswer] = [:]
        try rows("SELECT identity, content, status, text, time FROM failures") { row in
            if let key = DeliveryKey(row, at: 0) { answers[key] = FailureAnswer(row, at: 2) }
        }
        return answers
    }

    func removeFailure(of key: DeliveryKey) throws {
        try run("DELETE FROM failures WHERE identity = ? AND content = ?", [key.identity, key.content])
    }

    /// Makes the records with `identity` that are set aside available for sending again, and returns their keys.
    func resetFailures(identity: Digest16) throws -> Set<DeliveryKey> {
        try markForRetry(
            try keys(
                "UPDATE failures SET jobs = 0 WHERE identity = ? AND jobs >= ? RETURNING identity, content",
                [identity, FailedRecord.maximumJobCount]))
    }

    /// Makes the records that are set aside available for sending again, and returns their keys.
    ///
    /// Only records whose last answer has this `status` are selected, or all of them if it is `nil`.
    func resetFailures(status: Int?) throws -> Set<DeliveryKey> {
        try markForRetry(
            try keys(
                """
                UPDATE failures SET jobs = 0 WHERE jobs >= ?2 AND (?1 IS NULL OR status = ?1)
                RETURNING identity, content
                """, [status, FailedRecord.maximumJobCount]))
    }

    private func markForRetry(_ keys: Set<DeliveryKey>) throws -> Set<DeliveryKey> {
        let reason = try rowID(of: WaitReason.toRetry)
        // The result does not depend on the order of the updates.
        for key in keys {
            try run(
                "UPDATE waits SET reason = ? WHERE identity = ? AND content = ?", [reason, key.identity, key.content])
        }
        return keys
    }
}
