import Bytes
import Hashing
import SQLite
import Telemetry

/// The refused records that received the same answer.
public struct RefusalGroup: Sendable, Equatable {
    /// The HTTP status of the answer.
    public let status: Int
    /// The reason for the refusal, which may contain text from the server.
    public let reason: String
    /// The number of records in the group.
    public let recordCount: Int

    /// Creates a group of records that were refused with the same status and reason.
    public init(status: Int, reason: String, recordCount: Int) {
        self.status = status
        self.reason = reason
        self.recordCount = recordCount
    }
}

/// A selection of refused records and of records that are set aside.
public enum RefusalSelection: Sendable, Equatable {
    /// The records with the given ids, including records that were given up.
    case ids([String])
    /// The records whose last answer had this status.
    case status(Int)
    /// All records that are refused or set aside.
    case all
}

extension LedgerView {
    /// Returns the refused records that the operator has not resolved, grouped by answer, largest group first.
    public func refusals() throws(LedgerError) -> [RefusalGroup] {
        // The table of remarks is the outer table of the join, because it is small.
        try groups(
            """
            SELECT status, text, count(*) FROM remarks CROSS JOIN settled USING (identity, content)
            WHERE refused = 1 GROUP BY status, text ORDER BY count(*) DESC, status, text
            """)
    }

    /// Returns the records that are set aside, grouped by their last answer, largest group first.
    public func setAsideRecords() throws(LedgerError) -> [RefusalGroup] {
        try groups(
            """
            SELECT ifnull(status, 0), text, count(*) FROM failures WHERE jobs >= ?
            GROUP BY status, text ORDER BY count(*) DESC, status, text
            """, [FailedRecord.maximumJobCount])
    }

    private func groups(_ sql: StaticString, _ values: [any DatabaseValue] = []) throws(LedgerError) -> [RefusalGroup] {
        try read { db in
            var groups: [RefusalGroup] = []
            try db.rows(sql, values) {
                groups.append(RefusalGroup(status: $0[0], reason: $0[1], recordCount: $0[2]))
            }
            return groups
        }
    }
}

extension Ledger {
    /// Makes the selected records available for sending again, and returns the number of records for each id.
    public func retry(_ selection: RefusalSelection) throws(LedgerError) -> [CapturedText: Int] {
        try edit { db in
            switch selection {
            case .ids(let ids): try db.retry(ids)
            case .status(let status): try db.retryAll(status: status)
            case .all: try db.retryAll(status: nil)
            }
        }
    }

    /// Marks the records with the given `ids` as given up, unless they are delivered or in flight.
    ///
    /// - Returns: The number of marked records for each id.
    public func giveUp(_ ids: [String], at now: Timestamp) throws(LedgerError) -> [CapturedText: Int] {
        try edit { db in
            let types = try db.typeNames().values
            return try db.countByID(ids) { id in
                try types.reduce(0) { try $0 + db.giveUp($1.identity(of: id), at: now) }
            }
        }
    }
}

extension Database {
    /// Returns, for each of `ids`, the sum of the counts that `body` returns.
    func countByID(_ ids: [String], _ body: (String) throws -> Int) rethrows -> [CapturedText: Int] {
        var counts: [CapturedText: Int] = [:]
        for id in ids { counts[id, default: 0] += try body(id) }
        return counts
    }

    fileprivate func retry(_ ids: [String]) throws -> [CapturedText: Int] {
        let types = try typeNames().values
        return try countByID(ids) { id in
            var keys: Set<RecordKey> = []
            for type in types {
                keys.formUnion(
                    try self.keys(
                        """
                        SELECT identity, content FROM settled WHERE identity = ?1 AND refused > 0
                        UNION SELECT identity, content FROM refusals WHERE identity = ?1
                        UNION SELECT identity, content FROM failures WHERE identity = ?1 AND jobs >= ?2
                        """, [type.identity(of: id), FailedRecord.maximumJobCount]))
            }
            try retry(keys)
            return keys.count
        }
    }

    /// Makes the records that were refused with `status` available for sending again.
    ///
    /// If `status` is `nil`, all refused records are selected.
    fileprivate func retryAll(status: Int?) throws -> [CapturedText: Int] {
        let keys = try keys(
            """
            SELECT identity, content FROM settled WHERE refused = 1 AND (?1 IS NULL OR status = ?1)
            UNION SELECT identity, content FROM refusals WHERE ?1 IS NULL OR status = ?1
            UNION SELECT identity, content FROM failures WHERE jobs >= ?2 AND (?1 IS NULL OR status = ?1)
            """, [status, FailedRecord.maximumJobCount])
        var counts: [CapturedText: Int] = [:]
        for key in keys {
            let id: String? = try first(
                """
                SELECT id FROM remarks WHERE identity = ?1 AND content = ?2
                UNION ALL SELECT id FROM failures WHERE identity = ?1 AND content = ?2
                """, key.columns)
            counts[id ?? "", default: 0] += 1
        }
        try retry(keys, refusedWith: status)
        return counts
    }

    /// Makes records available for sending again, and stores them as waiting until a job reads them again.
    ///
    /// Only answers with this `status` are removed, or all answers if it is `nil`. Records that were given up
    /// have no rows in `refusals` and `failures`, so `keys` contains them only if they were selected by id.
    private func retry(_ keys: Set<RecordKey>, refusedWith status: Int? = nil) throws {
        let reason = try rowID(of: WaitReason.toRetry)
        // The result does not depend on the order of the records.
        for key in keys {
            try run(
                """
                INSERT OR REPLACE INTO waits SELECT identity, content, kind, client, 0, ?4, 0, NULL FROM settled
                WHERE identity = ?1 AND content = ?2 AND refused > 0 AND (?3 IS NULL OR status = ?3)
                """, key.columns + [status, reason])
            try run(
                """
                DELETE FROM settled
                WHERE identity = ?1 AND content = ?2 AND refused > 0 AND (?3 IS NULL OR status = ?3)
                """, key.columns + [status])
            // These are the refused parts of records whose other parts are not settled yet.
            try run(
                "DELETE FROM refusals WHERE identity = ?1 AND content = ?2 AND (?3 IS NULL OR status = ?3)",
                key.columns + [status])
            let isSetAside = try changeCount(
                running: """
                    UPDATE failures SET jobs = 0
                    WHERE identity = ?1 AND content = ?2 AND jobs >= ?4 AND (?3 IS NULL OR status = ?3)
                    """, key.columns + [status, FailedRecord.maximumJobCount])
            if isSetAside > 0 {
                try run(
                    "UPDATE waits SET reason = ? WHERE identity = ? AND content = ?",
                    [reason, key.identity, key.content])
            }
            try run("DELETE FROM remarks WHERE identity = ? AND content = ?", key.columns)
        }
    }

    fileprivate func giveUp(_ identity: Digest16, at now: Timestamp) throws -> Int {
        var count = try changeCount(
            running: "UPDATE settled SET refused = 2 WHERE identity = ? AND refused = 1", [identity])
        count += try changeCount(
            running: """
                INSERT OR IGNORE INTO settled (identity, content, kind, client, time, status, refused)
                SELECT identity, content, kind, client, ?2, 0, 2 FROM waits WHERE identity = ?1 AND NOT EXISTS (
                    SELECT 1 FROM flights
                    WHERE flights.identity = waits.identity AND (list OR flights.content = waits.content))
                """, [identity, now.seconds])
        try run("DELETE FROM refusals WHERE identity = ?", [identity])
        try run("DELETE FROM failures WHERE identity = ?", [identity])
        return count
    }
}

// MARK: - Failures

/// An undelivered record whose last upload failed, with the last answer.
public struct FailedRecord: Sendable, Equatable {
    /// The client and the type of the record.
    public let group: RecordGroup
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
                    key.columns)
                try db.run(
                    """
                    UPDATE waits SET reason = ?3 WHERE identity = ?1 AND content = ?2 AND EXISTS (
                        SELECT 1 FROM failures WHERE identity = ?1 AND content = ?2 AND jobs >= ?4)
                    """, key.columns + [setAside, FailedRecord.maximumJobCount])
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
                send.record.key.identity, send.record.key.content, try rowID(ofType: send.record.typeIndex, db),
                try rowID(ofClient: send.record.clientIndex, db), settlement.recordID, settlement.outcome.status,
                reason,
                now.seconds,
            ])
    }
}

extension Database {
    /// Returns the keys of the records that are set aside.
    func setAsideKeys() throws -> Set<RecordKey> {
        try keys("SELECT identity, content FROM failures WHERE jobs >= ?", [FailedRecord.maximumJobCount])
    }

    /// Returns the last answer to each undelivered record, by the key of the record.
    func lastAnswers() throws -> [RecordKey: FailureAnswer] {
        var answers: [RecordKey: FailureAnswer] = [:]
        try rows("SELECT identity, content, status, text, time FROM failures") { row in
            if let key = RecordKey(row, at: 0) { answers[key] = FailureAnswer(row, at: 2) }
        }
        return answers
    }
}
