import Bundle
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
    /// Whether ``edit(_:)`` rolls its changes back, so that only their counts are known.
    private let isRehearsal: Bool

    /// Opens the ledger at `path` for writing, and locks it until this object is released.
    ///
    /// If no ledger exists at `path`, it is created, unless `mustExist` is `true`. If `isRehearsal` is `true`, the edits of
    /// the operator change nothing.
    public init(
        path: String, now: Timestamp, mustExist: Bool = false, isRehearsal: Bool = false
    ) throws(LedgerError) {
        self.path = path
        self.isRehearsal = isRehearsal
        // If the ledger must exist, no file is created, not even the lock file.
        if mustExist { _ = try LedgerFile.openForReading(path) } else { try LedgerFile.checkKind(path) }
        do throws(FileError) { try PrivateFolder.create(LedgerFile.folder(of: path)) } catch { throw .file(error) }
        let lock = try LedgerLock(try LedgerFile.resolved(path), of: path, started: now.description)
        isNew = try !LedgerFile.exists(path)
        let file = try LedgerFile.openForWriting(path)
        realPath = try LedgerFile.openingPath(of: path)
        countedJobs = try JobCounter(ofLedger: realPath).lastJob()?.requiredNumber ?? 0
        writer = LedgerWriter(path, file, lock)
        self.file = file
    }

    deinit {
        // The lock is released last, so that the next owner finds a file that no other process writes.
        writer.close()
    }

    /// A read-only view of the ledger.
    public var view: LedgerView { LedgerView(path: path, file: file, ledger: self) }

    /// Begins a job, settles the records of `plan` that have no events left to send, and stores the reasons why other
    /// records wait.
    ///
    /// The job is counted in the ledger and in the file beside it.
    public func begin(_ plan: Plan) throws {
        let last = try view.read { try $0.first("SELECT number FROM jobs") ?? 0 }
        let number = min(max(last, countedJobs), CountRange.maximum - 1) + 1
        var job = CountedJob(number: number, started: plan.now.description)
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

    /// Stores `settlement` and marks `send` as in flight, in one durable transaction.
    ///
    /// - Returns: Whether `send` may be sent. The result is `false` if the day's quota is used up, because the day of
    ///   the plan has ended or the clock was set back.
    /// - Throws: ``LedgerError`` if the changes cannot be written. Nothing is changed in this case.
    @discardableResult
    func commit(settling settlement: Settlement?, marking send: PlannedUpload?, at now: Timestamp) async throws -> Bool
    {
        try await writer.commit((settlement, send, now))
    }

    /// Runs `body`, which changes the ledger, in one transaction.
    func edit<Value: Sendable>(_ body: (Database) throws -> Value) throws(LedgerError) -> Value {
        try writer.write { db, _ in
            guard isRehearsal else { return try body(db) }
            return try db.rehearse(body)
        }
    }
}

/// The writer of the file of a ledger, which holds the lock.
///
/// All changes are made in the transactions of ``write(_:)``. Changes that arrive while others are being written form a
/// group that is written in one transaction, so that many clients share one `fsync`.
///
/// A class, because the ledger and the queue share it.
private final class LedgerWriter: Sendable {
    /// The changes that one client submits together: the upload to settle, and the upload to mark as in flight.
    typealias Change = (settlement: Settlement?, send: PlannedUpload?, now: Timestamp)

    private let path: String
    private let file: DatabaseFile
    private let lock: LedgerLock
    private let job = Mutex<LedgerJob?>(nil)
    private let waiting = Mutex<[(change: Change, continuation: CheckedContinuation<Bool, any Error>)]>([])
    private let queue = DispatchQueue(label: "ledger")

    init(_ path: String, _ file: DatabaseFile, _ lock: consuming LedgerLock) {
        self.path = path
        self.file = file
        self.lock = lock
    }

    /// Runs `body` in one transaction, which is durable when this method returns.
    ///
    /// If the transaction fails, the job later reads its state from the ledger again.
    func write<Value: Sendable>(_ body: (Database, inout LedgerJob?) throws -> Value) throws(LedgerError) -> Value {
        try job.withLock { job throws(LedgerError) in
            // The job is removed from the property during the call, because copying its state for up to a million
            // clients would be slow.
            var current = job.take()
            defer { job = current }
            do throws(LedgerError) {
                let value = try LedgerFile.translatingErrors(path) { try file.write { try body($0, &current) } }
                // If the file is no longer at the path of the ledger, later jobs would not find the changes.
                guard lock.locksFile(at: path) else { throw .removed(path: path) }
                return value
            } catch {
                current?.forgetState()
                throw error
            }
        }
    }

    /// Begins the job with the given number.
    ///
    /// The write-ahead log is copied into the ledger, so that a copy of the ledger without its log contains the number,
    /// unless a reader prevents that.
    func begin(_ plan: Plan, number: Int) throws(LedgerError) {
        try write { db, job in job = try LedgerJob(plan, number: number, db) }
        try LedgerFile.translatingErrors(path) { try file.withoutTransaction { try $0.checkpointWithoutWaiting() } }
    }

    /// Submits a change, waits until it is durable, and returns whether its upload may be sent.
    func commit(_ change: Change) async throws -> Bool {
        try await withCheckedThrowingContinuation { continuation in
            waiting.withLock { $0.append((change, continuation)) }
            queue.async { self.writeGroup() }
        }
    }

    /// Closes the file when no group is being written.
    func close() {
        queue.sync {}
        file.close()
    }

    /// Writes the changes that wait, unless an earlier call has written them.
    private func writeGroup() {
        let group = waiting.withLock { exchange(&$0, with: []) }
        guard !group.isEmpty else { return }
        do {
            let results = try write { db, job in
                guard job != nil else {
                    throw LedgerError.storage(path: path, reason: "no job has begun", isFull: false)
                }
                for (settlement, _, now) in group.map(\.change) {
                    if let settlement { try job?.settle(settlement, at: now, db) }
                }
                return try group.map { (change, _) in
                    guard let send = change.send else { return true }
                    return try job?.mark(send, at: change.now, db) ?? false
                }
            }
            for (request, result) in zip(group, results) { request.continuation.resume(returning: result) }
        } catch {
            for request in group { request.continuation.resume(throwing: error) }
        }
    }
}

/// An upload with its outcome.
struct Settlement: Sendable {
    /// The upload to which the outcome belongs.
    let send: PlannedUpload
    /// The id of the record, which is needed for the list of refused records.
    let recordID: String
    var outcome: Outcome
    /// The last pause that the server requested, or `nil` if no pause has to be stored.
    var pause: Pause?
    /// Whether the server accepts no more uploads of the client.
    var endsClient = false
    var attempt = AttemptExtent.complete
}

/// The extent to which an upload was attempted.
enum AttemptExtent: Sendable {
    /// No request was made.
    case none
    /// A request was cut off, because the job was stopped.
    case cutOff
    /// The last request was answered, or failed.
    case complete
}

/// An error of opening, reading or writing a ledger.
public enum LedgerError: Error, Sendable, CustomStringConvertible {
    /// Another job has locked the ledger. The holder is `nil` if it cannot be identified.
    case locked(path: String, by: LedgerHolder?)
    /// The file is damaged. The reason is the message of SQLite.
    case damaged(path: String, reason: String)
    /// The file is not a ledger.
    case notALedger(path: String)
    /// The path is not a regular file, but a pipe, a folder or a device.
    case notAFile(path: String)
    /// The file has several hard links.
    case multipleNames(path: String)
    /// The version of the format is not supported.
    case unsupportedVersion(path: String, version: String)
    /// No ledger exists at the path.
    case missing(path: String)
    /// The ledger is an older copy, or the file that counts its jobs is missing.
    case older(path: String, MissingJobs)
    /// The file that counts the jobs of a ledger is damaged.
    case damagedCounter(path: String)
    /// The file was removed or replaced while it was in use.
    case removed(path: String)
    /// A call to the operating system failed.
    case file(FileError)
    /// SQLite cannot read or write the file.
    case storage(path: String, reason: String, isFull: Bool)

    /// The message, which begins with the path.
    public var description: String {
        switch self {
        case .locked(let path, let holder?):
            "\(path): in use by process \(holder.pid) on \(holder.host) since \(holder.started)"
        case .locked(let path, nil): "\(path): in use by another job"
        case .damaged(let path, let reason): "\(path): the ledger is damaged: \(reason)"
        case .notALedger(let path): "\(path): not a ledger of this program"
        case .notAFile(let path): "\(path): not a regular file"
        case .multipleNames(let path): "\(path): the ledger has several hard links"
        case .unsupportedVersion(let path, let version): "\(path): ledger format version \(version) is not supported"
        case .missing(let path): "\(path): the ledger does not exist"
        case .older(let path, let missing): "\(path): the ledger is older than its last job: \(missing.description)"
        case .damagedCounter(let path): "\(path): not a counter of jobs"
        case .removed(let path): "\(path): the ledger was removed or replaced while it was in use"
        case .file(let error): error.description
        case .storage(let path, let reason, _): "\(path): \(reason)"
        }
    }

    /// A suggestion for how to resolve the error, or `nil` if there is no specific one.
    public var remedy: String? {
        switch self {
        case .locked: "wait until that job ends; nothing was sent"
        case .damaged(let path, _):
            """
            move it away and restore a backup (ledger restore), or try sqlite3 \(path) .recover; without it, all records are sent \
            again, so move the file away only if that is acceptable
            """
        case .notALedger, .notAFile: "use --ledger to give the path of a ledger or of a file that does not exist yet"
        case .multipleNames: "remove the other hard links; symbolic links are allowed"
        case .unsupportedVersion: FormatVersion.remedy
        case .older:
            """
            restore the ledger together with the files beside it, or a newer backup; with --accept-older-ledger, what the \
            missing jobs delivered is sent again
            """
        case .damagedCounter: "if the ledger beside it is complete, remove it and use --accept-older-ledger once"
        case .removed:
            """
            restore it from a backup before the next job; without it, all records that were delivered until now are sent again
            """
        case .missing:
            "use --ledger to give the path of the job's ledger; only send creates one, unless --ledger-must-exist is given"
        case .file(let error) where error.isPermissionDenied:
            """
            run the command as the owner of the ledger, or use --ledger to specify another path; if another user created the \
            file, give it to the owner of its folder: chown --reference=FOLDER FILE
            """
        case .file: nil
        case .storage(_, _, let isFull):
            isFull ? "free some space; uploads in flight are sent again with the same id" : nil
        }
    }
}
