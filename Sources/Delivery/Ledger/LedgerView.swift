import SQLite
import Telemetry

/// A ledger that is only read, also while a job writes it.
public struct LedgerView: Sendable {
    /// The file.
    public let path: String
    private let file: DatabaseFile
    /// A ledger closes its file when it goes, so it stays for as long as somebody looks into it.
    private let ledger: Ledger?

    /// - Parameter ledger: the ledger whose file it is, where a job has it open.
    init(path: String, file: DatabaseFile, of ledger: Ledger? = nil) {
        self.path = path
        self.file = file
        self.ledger = ledger
    }

    /// Opens a ledger to read it only, also while a job writes it.
    /// - Throws: ``LedgerError``; `missing` where there is none.
    public init(path: String) throws(LedgerError) {
        self.init(path: path, file: try LedgerFile.openForReading(path))
    }

    /// The knowledge that a plan needs.
    /// - Parameter today: the day of the plan.
    public func state(of pool: CandidatePool, today: Int) throws(LedgerError) -> LedgerState {
        try read { try $0.ledgerState(of: pool, today: today) }
    }

    private struct Release: Hashable {
        let id: String
        let code: String
    }

    /// Whether the operator accepts that a record, by its id, is held for a reason.
    public func releases() throws(LedgerError) -> @Sendable (_ id: String, _ code: String) -> Bool {
        let releases = try read { db in
            var releases: Set<Release> = []
            try db.rows("SELECT id, code FROM releases") { releases.insert(Release(id: $0[0], code: $0[1])) }
            return releases
        }
        return { releases.contains(Release(id: $0, code: $1)) }
    }

    /// The pauses that the servers of a plan asked for and that are in force at an instant.
    public func pauses(of plan: Plan, at now: Timestamp) throws(LedgerError) -> [Pause] {
        let endpoints = Set(plan.names.types.values.compactMap { plan.rules.endpoints[$0.system] })
        return try read { try $0.pauses() }.filter { $0.isActive(at: now) && endpoints.contains($0.endpoint) }
    }

    /// What was delivered, refused, is in flight and waits.
    /// - Parameter today: the day whose quota is shown.
    public func overview(today: Int) throws(LedgerError) -> LedgerOverview {
        try read { try LedgerOverview($0, today: today) }
    }

    /// The number of records that are held and that an operator can release, by the codes for which they are held.
    ///
    /// They count until they are released or forgotten, whatever bundles jobs are given.
    /// - Parameter ignored: codes that the operator does not want to be told of.
    public func heldReleasable(
        knowing systems: SystemTable, ignoring ignored: Set<String> = []
    ) throws(LedgerError) -> [String: Int] {
        try read { db in
            var counts: [String: Int] = [:]
            guard try db.hasTable("waits") else { return counts }
            try db.waits { row in
                let reason = WaitReason(row, at: 3)
                guard reason.isReleasable(knowing: systems), !ignored.isSuperset(of: reason.heldCodes) else { return }
                counts[reason.heldCodes.joined(separator: ", "), default: 0] += row[5]
            }
            return counts
        }
    }

    /// What jobs found of the records of a pool that are not delivered.
    public func recordedReasons(of pool: CandidatePool) throws(LedgerError) -> RecordedReasons {
        try read { db in
            var recorded = RecordedReasons()
            try db.rows(
                """
                SELECT identity, content, status, text FROM remarks CROSS JOIN settled USING (identity, content)
                WHERE refused = 1
                """
            ) { row in
                let text: String = row[3]
                if let key = DeliveryKey(row, at: 0) { recorded.refusalAnswers[key] = "\(row[2] as Int) \(text)" }
            }
            // An older ledger that is only looked at has no such table.
            guard try db.hasTable("waits") else { return recorded }
            for candidate in pool.candidates {
                recorded.waitReasons[candidate.key] = try db.waitReason(of: candidate.key)
            }
            return recorded
        }
    }

    func read<Value: Sendable>(_ body: (Database) throws -> Value) throws(LedgerError) -> Value {
        try LedgerFile.translatingErrors(path) { try file.read(body) }
    }
}
