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
    private let writer: LedgerWriter
    private let commits: GroupCommit<LedgerChange, [MarkResult]>

    /// Opens a ledger for a job or to change it by hand, and makes it if there is none.
    ///
    /// - Parameters:
    ///   - path: the file; a lock file stands beside it.
    ///   - now: the present instant, which is told to others that find the ledger locked.
    ///   - mustExist: whether nothing is made, not even a lock file, where there is none.
    /// - Throws: ``LedgerError``; `locked` while another job has it, `missing` if it must exist and does not.
    public init(path: String, now: Timestamp, mustExist: Bool = false) throws(LedgerError) {
        self.path = path
        if mustExist { _ = try LedgerFile.openForReading(path) }
        try LedgerFile.createFolder(of: path)
        let lock = try LedgerLock(try LedgerPath.resolved(path), of: path, started: now.description)
        isNew = try !LedgerFile.exists(path)
        let file = try LedgerFile.openForWriting(path)
        let writer = LedgerWriter(path, file, lock)
        self.file = file
        self.writer = writer
        commits = GroupCommit { try writer.commit($0) }
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
    public func begin(_ plan: Plan) throws { try writer.begin(plan) }

    /// Settles uploads and marks others in flight, in one step that is on disk when this returns.
    /// - Returns: for each of the uploads to be sent, whether it may be.
    /// - Throws: ``LedgerError``. Nothing was changed then, except if the ledger was removed: no later job finds the changes.
    public func commit(settling settlements: [Settlement], marking sends: [PlannedUpload], at now: Timestamp)
        async throws
        -> [MarkResult]
    {
        try await commits.commit(LedgerChange(settlements: settlements, sends: sends, now: now))
    }

    /// Makes other changes, in one transaction.
    func edit<Value: Sendable>(_ body: (Database) throws -> Value) throws(LedgerError) -> Value {
        try writer.write(body)
    }
}

/// Changes the file of a ledger while its lock is held.
///
/// A class, because a ledger and its groups of commits share the lock and the job.
private final class LedgerWriter: Sendable {
    private let path: String
    private let file: DatabaseFile
    private let lock: LedgerLock
    private let job = Mutex<LedgerJob?>(nil)

    init(_ path: String, _ file: DatabaseFile, _ lock: consuming LedgerLock) {
        self.path = path
        self.file = file
        self.lock = lock
    }

    /// Makes changes in one transaction, which is on disk when this returns.
    /// - Throws: ``LedgerError``; `removed` if the file that was changed is not at the ledger's path any more, because
    ///   no later job would find the changes.
    func write<Value: Sendable>(_ body: (Database) throws -> Value) throws(LedgerError) -> Value {
        let value = try LedgerFile.translatingErrors(path) { try file.write(body) }
        guard lock.locksFile(at: path) else { throw .removed(path: path) }
        return value
    }

    /// Begins the job of a plan.
    func begin(_ plan: Plan) throws {
        let new = try write { try LedgerJob(plan, $0) }
        job.withLock { $0 = new }
    }

    /// Makes the changes of a group in one transaction. If that fails, the job reads its state from the ledger again.
    func commit(_ group: [LedgerChange]) throws -> [[MarkResult]] {
        try job.withLock { job in
            // Removed and put back, so that what it holds of a million clients is not copied for each group.
            guard var current = job.take() else { throw LedgerNotBegunError() }
            defer { job = current }
            do {
                return try write { try current.apply(group, $0) }
            } catch {
                current.forgetState()
                throw error
            }
        }
    }
}

/// Settlements and marks that one client hands in together.
struct LedgerChange: Sendable {
    let settlements: [Settlement]
    let sends: [PlannedUpload]
    let now: Timestamp
}

/// Uploads were marked or settled before the job began.
struct LedgerNotBegunError: Error {}
