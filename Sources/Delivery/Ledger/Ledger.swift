import SQLite
import Synchronization
import Telemetry

/// What was delivered, refused and is in flight: one SQLite file, written by one job at a time.
///
/// A job opens it, reads what its plan needs, begins, and then marks and settles uploads in groups that are durable before
/// the next request depends on them. A kill at any moment leaves uploads in flight, which the next job sends again.
///
/// Source: "Delivery", "The ledger".
public final class Ledger: Sendable {
    /// The file.
    public let path: String
    /// Whether there was no ledger at the path.
    public let isNew: Bool
    private let file: DatabaseFile
    private let lock: LedgerLock
    private let commits: GroupCommit<LedgerChange, [MarkAnswer]>
    private let job: JobHolder

    /// Opens a ledger for a job or to change it by hand, and makes it if there is none.
    ///
    /// - Parameters:
    ///   - path: the file; a lock file stands beside it.
    ///   - now: the present instant, which is told to others that find the ledger locked.
    ///   - mustExist: whether nothing is made, not even a lock file, where there is none.
    /// - Throws: ``LedgerError``; `held` while another job has it, `missing` if it must exist and does not.
    public init(path: String, now: Timestamp, mustExist: Bool = false) throws(LedgerError) {
        self.path = path
        if mustExist { _ = try LedgerFile.openForReading(path) }
        try LedgerFile.makeFolder(of: path)
        lock = try LedgerLock(try LedgerPath.resolved(path), of: path, started: now.description)
        isNew = try !LedgerFile.exists(path)
        let file = try LedgerFile.openForWriting(path)
        let job = JobHolder()
        self.file = file
        self.job = job
        commits = GroupCommit { changes in
            try LedgerFile.translating(path) {
                try job.withJob { job in try file.write { db in try job.apply(changes, db) } }
            }
        }
    }

    deinit {
        // The lock ends last: whoever takes it next finds a file that nobody writes.
        commits.finish()
        file.close()
    }

    /// What can be read from it.
    public var view: LedgerView { LedgerView(path: path, file: file, of: self) }

    /// Begins the uploads of a plan: settles what has nothing left to send, and notes what waits.
    /// - Throws: ``LedgerError``.
    public func begin(_ plan: Plan) throws {
        job.set(try LedgerFile.translating(path) { try file.write { try LedgerJob(plan, $0) } })
    }

    /// Settles uploads and marks others in flight, in one step that is on disk when this returns.
    ///
    /// - Parameters:
    ///   - settlements: what became of uploads that were marked.
    ///   - sends: uploads that are to be sent next.
    ///   - now: the present instant.
    /// - Returns: for each of the uploads to be sent, whether it may be.
    /// - Throws: ``LedgerError``; nothing was changed then.
    public func commit(settling settlements: [Settlement], marking sends: [PlannedSend], at now: Timestamp) async throws
        -> [MarkAnswer]
    {
        try await commits.commit(LedgerChange(settlements: settlements, sends: sends, now: now))
    }

    /// Marks uploads in flight: see ``commit(settling:marking:at:)``.
    public func mark(_ sends: [PlannedSend], at now: Timestamp) async throws -> [MarkAnswer] {
        try await commit(settling: [], marking: sends, at: now)
    }

    /// Settles uploads: see ``commit(settling:marking:at:)``.
    public func settle(_ settlements: [Settlement], at now: Timestamp) async throws {
        _ = try await commit(settling: settlements, marking: [], at: now)
    }

    /// Makes other changes, in one transaction.
    /// - Throws: ``LedgerError``.
    func edit<Value: Sendable>(_ body: (Database) throws -> Value) throws(LedgerError) -> Value {
        try LedgerFile.translating(path) { try file.write(body) }
    }
}

/// Settlements and marks that one client hands in together.
struct LedgerChange: Sendable {
    let settlements: [Settlement]
    let sends: [PlannedSend]
    let now: Timestamp
}

/// The place for the job of a ledger.
private final class JobHolder: Sendable {
    private let job = Mutex<LedgerJob?>(nil)

    func set(_ new: LedgerJob) { job.withLock { $0 = new } }

    /// Runs a body with the job; a job whose changes were not written forgets what it counted.
    func withJob<Value>(_ body: (inout LedgerJob) throws -> Value) throws -> Value {
        try job.withLock { job in
            // Taken out and put back, so that what it holds of a million clients is not copied for each group.
            guard var current = job.take() else { throw LedgerNotBegunError() }
            defer { job = current }
            do {
                return try body(&current)
            } catch {
                current.forgetCounts()
                throw error
            }
        }
    }
}

/// Uploads were marked or settled before the job began.
struct LedgerNotBegunError: Error {}
