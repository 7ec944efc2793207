import Bytes
import Dispatch
import Files
import SQLite
import Synchronization
import Telemetry

/// The durable record of which uploads were delivered, refused or are in flight, as an SQLite file.
///
/// One job at a time writes the ledger. A job opens the ledger, reads the state that its plan needs, begins, and then
/// marks and settles uploads in groups. Each group is durable before the next request that depends on it. If a job is
/// killed, its uploads stay in flight, and the next job sends them again.
///
/// Source: "Delivery", "The ledger".
public final class Ledger: Sendable {
    /// The path of the ledger, as the caller specified it.
    public let path: String
    /// Whether no ledger existed at the path, so that a new ledger was created.
    public let isNew: Bool
    /// The number of jobs that have used a ledger at the path, according to the counter beside it.
    public let countedJobs: Int
    let realPath: String
    let file: DatabaseFile
    private let writer: LedgerWriter
    private let groupCommit: GroupCommit<LedgerChange, [MarkResult]>

    /// Opens the ledger at `path` for writing, and locks it until this object is released.
    ///
    /// If no ledger exists at `path`, it is created, unless `mustExist` is `true`.
    public init(path: String, now: Timestamp, mustExist: Bool = false) throws(LedgerError) {
        self.path = path
        // If the ledger must exist, no file is created, not even the lock file.
        if mustExist { _ = try LedgerFile.openForReading(path) }
        do throws(FileError) { try PrivateFolder.create(LedgerFile.folder(of: path)) } catch { throw .file(error) }
        let lock = try LedgerLock(try LedgerFile.resolved(path), of: path, started: now.description)
        isNew = try !LedgerFile.exists(path)
        let file = try LedgerFile.openForWriting(path)
        realPath = try LedgerFile.openingPath(of: path)
        countedJobs = try JobCounter(ofLedger: realPath).lastJob()?.requiredNumber ?? 0
        let writer = LedgerWriter(path, file, lock)
        self.file = file
        self.writer = writer
        groupCommit = GroupCommit { try writer.commit($0) }
    }

    deinit {
        // The lock is released last, so that the next owner finds a file that no other process writes.
        groupCommit.finish()
        file.close()
    }

    /// A read-only view of the ledger.
    public var view: LedgerView { LedgerView(path: path, file: file, of: self) }

    /// Begins a job, settles the records of `plan` that have no events left to send, and stores the reasons why other
    /// records wait.
    ///
    /// The job is counted in the ledger and in the file beside it.
    public func begin(_ plan: Plan) throws {
        let last = try view.read { try $0.first("SELECT number FROM jobs") ?? 0 }
        let number = min(max(last, countedJobs), CountRange.maximum - 1) + 1
        var job = JobCounter.Job(number: number, started: plan.now.description)
        let counter = JobCounter(ofLedger: realPath)
        try counter.store(job)
        try writer.begin(plan, number: number)
        job.isInLedger = true
        try counter.store(job)
    }

    /// Stores the end of the current job, which was successful if `status` is 0.
    public func recordEnd(status: Int32, at now: Timestamp) throws(LedgerError) {
        try edit { db in
            try db.run("UPDATE jobs SET ended = ?, result = ?", [now.seconds, Int(status)])
            if status == 0 { try db.run("UPDATE jobs SET success = time") }
        }
        let counter = JobCounter(ofLedger: realPath)
        guard var job = try counter.lastJob() else { return }
        job.hasEnded = true
        try counter.store(job)
    }

    /// Stores `settlements` and marks `sends` as in flight, in one durable transaction.
    ///
    /// - Returns: For each element of `sends`, whether it may be sent.
    /// - Throws: ``LedgerError`` if the changes cannot be written. Nothing is changed in this case.
    public func commit(settling settlements: [Settlement], marking sends: [PlannedUpload], at now: Timestamp)
        async throws
        -> [MarkResult]
    {
        try await groupCommit.commit(LedgerChange(settlements: settlements, sends: sends, now: now))
    }

    /// Runs `body`, which changes the ledger, in one transaction.
    func edit<Value: Sendable>(_ body: (Database) throws -> Value) throws(LedgerError) -> Value {
        try writer.write(body)
    }
}

/// The writer of the file of a ledger, which holds the lock.
///
/// A class, because the ledger and its group commit share the lock and the job.
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

    /// Runs `body` in one transaction, which is durable when this method returns.
    func write<Value: Sendable>(_ body: (Database) throws -> Value) throws(LedgerError) -> Value {
        let value = try LedgerFile.translatingErrors(path) { try file.write(body) }
        // If the file is no longer at the path of the ledger, later jobs would not find the changes.
        guard lock.locksFile(at: path) else { throw .removed(path: path) }
        return value
    }

    /// Begins the job with the given number.
    ///
    /// The write-ahead log is copied into the ledger, so that a copy of the ledger without its log contains the number,
    /// unless a reader prevents that.
    func begin(_ plan: Plan, number: Int) throws {
        let new = try write { try LedgerJob(plan, number: number, $0) }
        try LedgerFile.translatingErrors(path) { try file.withoutTransaction { try $0.checkpointWithoutWaiting() } }
        job.withLock { $0 = new }
    }

    /// Applies a group of changes in one transaction.
    ///
    /// If the transaction fails, the job later reads its state from the ledger again.
    func commit(_ group: [LedgerChange]) throws -> [[MarkResult]] {
        try job.withLock { job in
            // The job is removed from the property during the call, because copying its state for up to a million
            // clients would be slow.
            guard var currentJob = job.take() else { throw LedgerNotBegunError() }
            defer { job = currentJob }
            do {
                return try write { try currentJob.apply(group, $0) }
            } catch {
                currentJob.forgetState()
                throw error
            }
        }
    }
}

/// The changes that one client submits together: the uploads to settle, and the uploads to mark as in flight.
struct LedgerChange: Sendable {
    let settlements: [Settlement]
    let sends: [PlannedUpload]
    let now: Timestamp
}

/// The error that is thrown if uploads are marked or settled before the job has begun.
private struct LedgerNotBegunError: Error {}

/// An upload with its outcome.
public struct Settlement: Sendable {
    /// The upload to which the outcome belongs.
    public let send: PlannedUpload
    /// The id of the record, which is needed for the list of refused records.
    public let recordID: String
    /// The outcome of the upload.
    public let outcome: Outcome
    /// The last pause that the server requested, or `nil` if no pause has to be stored.
    public let pause: Pause?
    /// Whether the server accepts no more uploads of the client.
    public let endsClient: Bool
    /// The extent to which the upload was attempted.
    public let attempt: Attempt

    /// The extent to which an upload was attempted.
    public enum Attempt: Sendable, Equatable {
        /// No request was made.
        case none
        /// A request was cut off, because the job was stopped.
        case cutOff
        /// The last request was answered, or failed.
        case complete
    }

    /// Creates a settlement with the outcome of the upload `send`.
    public init(
        _ send: PlannedUpload, recordID: String, outcome: Outcome, pause: Pause? = nil, endsClient: Bool = false,
        attempt: Attempt = .complete
    ) {
        self.send = send
        self.recordID = recordID
        self.outcome = outcome
        self.pause = pause
        self.endsClient = endsClient
        self.attempt = attempt
    }
}

/// The result of marking an upload as in flight.
public enum MarkResult: Sendable, Equatable {
    /// The upload is durably marked and may be sent.
    case marked
    /// The day's quota is used up, because the day of the plan has ended or the clock was set back.
    case dailyLimit
}

/// A queue that combines the changes of concurrent tasks into groups that are written together.
///
/// Changes that arrive while one group is being written form the next group, so that many clients share one `fsync`.
private final class GroupCommit<Change: Sendable, Result: Sendable>: Sendable {
    private struct Request {
        let change: Change
        let continuation: CheckedContinuation<Result, any Error>
    }

    private struct State {
        var waitingRequests: [Request] = []
        var isWriting = false
    }

    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "ledger")
    private let write: @Sendable ([Change]) throws -> [Result]

    /// Creates a group commit that stores each group by calling `write`.
    ///
    /// `write` must store the whole group durably, or throw an error without storing any of its changes.
    init(write: @escaping @Sendable ([Change]) throws -> [Result]) { self.write = write }

    /// Submits a change and waits until it is durable.
    func commit(_ change: Change) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            let isFirst = state.withLock { state in
                state.waitingRequests.append(Request(change: change, continuation: continuation))
                defer { state.isWriting = true }
                return !state.isWriting
            }
            if isFirst { queue.async { self.writeGroups() } }
        }
    }

    /// Waits until no group is being written.
    func finish() { queue.sync {} }

    private func writeGroups() {
        while let group = nextGroup() {
            do {
                let results = try write(group.map(\.change))
                for (request, result) in zip(group, results) { request.continuation.resume(returning: result) }
            } catch {
                for request in group { request.continuation.resume(throwing: error) }
            }
        }
    }

    private func nextGroup() -> [Request]? {
        state.withLock { state in
            guard !state.waitingRequests.isEmpty else {
                state.isWriting = false
                return nil
            }
            defer { state.waitingRequests = [] }
            return state.waitingRequests
        }
    }
}
