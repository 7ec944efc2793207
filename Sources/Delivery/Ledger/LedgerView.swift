import Bytes
import SQLite
import Telemetry

/// A read-only view of a ledger that a job may write at the same time.
public struct LedgerView: Sendable {
    /// The path of the ledger, as the caller specified it.
    public let path: String
    let file: DatabaseFile
    /// The ledger that owns the file, or `nil` if the view has opened the file itself.
    ///
    /// The ledger is retained because it closes the file when it is deinitialized.
    var ledger: Ledger?
}

extension LedgerView {
    /// Opens an existing ledger for reading.
    public init(path: String) throws(LedgerError) {
        self.init(path: path, file: try LedgerFile.openForReading(path))
    }

    /// Returns the jobs that are missing in the ledger, because it is an older copy, or `nil` if there are none.
    public func missingJobs() throws(LedgerError) -> MissingJobs? {
        let realPath = try LedgerFile.openingPath(of: path)
        return try read { try MissingJobs(in: $0, realPath) }
    }

    /// Returns the state of the ledger that is needed to plan the uploads of `pool` on the day `today`.
    public func state(of pool: CandidatePool, today: Int) throws(LedgerError) -> LedgerState {
        try read { try $0.ledgerState(of: pool, today: today) }
    }

    /// Returns a function that checks whether the operator has released a record from a hold code.
    public func releaseCheck() throws(LedgerError) -> @Sendable (_ id: String, _ code: String) -> Bool {
        let releases = try read { db in
            // Each element consists of an id and a code.
            var releases: Set<[CapturedText]> = []
            try db.rows("SELECT id, code FROM releases") {
                releases.insert([CapturedText($0[0] as String), CapturedText($0[1] as String)])
            }
            return releases
        }
        return { releases.contains([CapturedText($0), CapturedText($1)]) }
    }

    /// Returns the pauses that are in effect at `now` for the servers of `plan`.
    public func pauses(of plan: Plan, at now: Timestamp) throws(LedgerError) -> [Pause] {
        let endpoints = Set(texts: plan.names.types.values.compactMap { plan.rules.servers[$0]?.endpoint.address })
        return try read { try $0.pauses() }.filter { $0.isActive(at: now) && endpoints.contains($0.endpoint) }
    }

    /// Returns the counts and remarks of the ledger, and the quota used on the day `today`.
    public func overview(today: Int, knowing systems: SystemTable) throws(LedgerError) -> LedgerOverview {
        try read { try LedgerOverview($0, today: today, knowing: systems) }
    }

    /// Returns the number of held records that the operator can release, by hold codes.
    ///
    /// Records that are held only for codes in `ignored` are not counted.
    public func releasableHoldCounts(
        knowing systems: SystemTable, ignoring ignored: Set<CapturedText> = []
    ) throws(LedgerError) -> [CapturedText: Int] {
        try read { db in
            var counts: [CapturedText: Int] = [:]
            try db.forEachWait(knowing: systems) { row in
                let reason = WaitReason(row, at: 3)
                guard reason.isReleasable(knowing: systems), !reason.heldCodes.allSatisfy({ ignored.contains($0) })
                else { return }
                counts[reason.joinedHoldCodes, default: 0] += row[5]
            }
            return counts
        }
    }

    /// Returns the stored reasons why records of `pool` are not delivered.
    public func recordedReasons(of pool: CandidatePool) throws(LedgerError) -> RecordedReasons {
        try read { try $0.recordedReasons(of: pool) }
    }

    func read<Value: Sendable>(_ body: (Database) throws -> Value) throws(LedgerError) -> Value {
        try LedgerFile.translatingErrors(path) { try file.read(body) }
    }
}

extension Database {
    func recordedReasons(of pool: CandidatePool) throws -> RecordedReasons {
        var recorded = RecordedReasons()
        try rows(
            """
            SELECT identity, content, status, text FROM remarks CROSS JOIN settled USING (identity, content)
            WHERE refused = 1
            """
        ) { row in
            let text: String = row[3]
            if let key = RecordKey(row, at: 0) { recorded.refusalAnswers[key] = "\(row[2] as Int) \(text)" }
        }
        recorded.lastAnswers = try lastAnswers()
        for candidate in pool.candidates {
            recorded.waitReasons[candidate.key] = try waitReason(of: candidate.key)
        }
        return recorded
    }
}
