import Files
import JSONText
import SQLite
import Telemetry

/// Checks and copies of a ledger, for the operator.
///
/// A copy of the file alone can lack the last transactions, which are in the write-ahead log. These functions use SQLite's
/// interface for backups instead.
extension LedgerView {
    /// Returns the first fault that a complete check of the database finds, or `nil` if it is intact.
    public func fault() throws(LedgerError) -> String? {
        let result: String? = try read { try $0.first("PRAGMA integrity_check(1)") }
        return result == "ok" ? nil : result
    }

    /// Returns the number of the last job that used the ledger, or 0 if no job has used it.
    public func jobNumber() throws(LedgerError) -> Int {
        try read { try $0.first("SELECT number FROM jobs") ?? 0 }
    }

    /// Writes a copy to `path`, while a job may use this ledger.
    ///
    /// - Throws: ``LedgerError``, for example if the file exists and `replacing` is `false`.
    public func backUp(to path: String, replacing: Bool) throws(LedgerError) {
        try LedgerFile.translatingErrors(path) {
            let output = try AtomicOutput(path: path, replacing: replacing)
            try output.setPermissions(0o600)
            let copy = try DatabaseFile(path: output.partialPath, .writing)
            try file.copy(to: copy)
            // Without a write-ahead log, the copy is complete in one file.
            try copy.withoutTransaction { try $0.run(script: "PRAGMA journal_mode = DELETE") }
            copy.close()
            try output.commit()
        }
    }
}

extension Ledger {
    /// Replaces the contents of this ledger with those of `copy`.
    ///
    /// The counter of jobs is kept, so that the next job finds out whether the copy is older. If there is none, because
    /// the ledger was moved to this place, it is created.
    public func restore(_ copy: LedgerView) throws(LedgerError) {
        try LedgerFile.translatingErrors(path) {
            try copy.file.copy(to: file)
        }
        let number = try view.jobNumber()
        guard countedJobs == 0, number > 0 else { return }
        let started: Int64 = try view.read { try $0.first("SELECT time FROM jobs") ?? 0 }
        let job = CountedJob(
            number: number, started: Timestamp(clamping: started &* 1000).description, isInLedger: true)
        try JobCounter(ofLedger: realPath).store(job)
    }
}

/// The number of the last job that used a ledger, in a file beside the ledger.
///
/// The ledger contains the same number. If it contains a lower one, it is an older copy, and what the jobs in between
/// delivered would be sent again. If the file is missing, the ledger was moved without it, and perhaps without the
/// write-ahead log that contains the last transactions. The file is written before and after the ledger, so that a job
/// that is killed while it begins is not reported as missing. It also states whether the job has ended, so that a copy
/// that was made while the job ran is recognized.
///
/// Source: "Nightly uploads", "The life of a ledger".
public struct JobCounter {
    /// Returns the path of the counter of the ledger at `path`.
    public static func path(ofLedger path: String) -> String { path + suffix }

    private let path: String

    /// The end of the name of the file, which follows the name of the ledger.
    static let suffix = ".jobs"

    init(ofLedger realPath: String) { path = Self.path(ofLedger: realPath) }

    /// Returns the last job, or `nil` if the file does not exist.
    ///
    /// - Throws: `LedgerError` if the file cannot be read or is not a counter.
    func lastJob() throws(LedgerError) -> CountedJob? {
        let bytes: [UInt8]
        do throws(FileError) {
            bytes = try InputFile(path: path).contents(limit: 4096)
        } catch {
            if error.isNotFound { return nil }
            throw .file(error)
        }
        guard let fields = try? JSONFields(bytes), let number = fields.count("job"),
            let started = fields.text("started"),
            let isInLedger = fields.boolean("inLedger"), let hasEnded = fields.boolean("ended")
        else { throw .damagedCounter(path: path) }
        return CountedJob(number: number, started: started, isInLedger: isInLedger, hasEnded: hasEnded)
    }

    /// Replaces the file durably.
    func store(_ job: CountedJob) throws(LedgerError) {
        let object: CanonicalObject = [
            "ended": job.hasEnded, "inLedger": job.isInLedger, "job": job.number, "started": job.started,
        ]
        do throws(FileError) {
            let output = try AtomicOutput(path: path, replacing: true)
            try output.adoptOwnerOfFolder()
            try output.write((object.bytes + [UInt8(ascii: "\n")]).span)
            try output.commit()
        } catch {
            throw .file(error)
        }
    }
}

/// The last job in the counter of a ledger.
struct CountedJob: Sendable, Equatable {
    let number: Int
    /// The time at which the job began, in RFC 3339 format.
    let started: String
    /// Whether the ledger contains the number of the job.
    var isInLedger = false
    /// Whether the ledger contains the end of the job.
    var hasEnded = false

    /// The lowest number that the ledger contains, unless it is an older copy.
    var requiredNumber: Int { isInLedger ? number : number - 1 }
}

/// The jobs that an older copy of a ledger does not contain.
public struct MissingJobs: Sendable, Equatable {
    /// The number of the last job in the ledger.
    public let ledgerJob: Int
    /// The time of the last job in the ledger, or `nil` if it contains none or the stored time is invalid.
    public let ledgerTime: Timestamp?
    /// The number of the last job according to the counter beside the ledger, or `nil` if that file is missing.
    public let lastJob: Int?
    /// The time of the last job according to the counter, in RFC 3339 format, or `nil` if that file is missing.
    public let lastStarted: String?

    /// Returns the jobs that are missing in the ledger at `realPath`, or `nil` if it contains all jobs.
    init?(in db: Database, _ realPath: String) throws {
        let number = try db.first("SELECT number FROM jobs") ?? 0
        let counted = try JobCounter(ofLedger: realPath).lastJob()
        let hasEnded = try db.first("SELECT ended IS NOT NULL FROM jobs") ?? false
        let isOlder = { (job: CountedJob) in
            number < job.requiredNumber || number == job.number && job.hasEnded && !hasEnded
        }
        // A new ledger contains no job, and has no counter yet.
        guard counted.map(isOlder) ?? (number > 0) else { return nil }
        ledgerJob = number
        ledgerTime = try db.first("SELECT time FROM jobs").flatMap { Timestamp(seconds: $0) }
        (lastJob, lastStarted) = (counted?.number, counted?.started)
    }

    /// The description of what is missing, such as `it ends with job 12 of 2026-…, but job 15 began at 2026-…`.
    public var description: String {
        let end = "it ends with job \(ledgerJob)\(ledgerTime.map { " of \($0)" } ?? "")"
        guard let lastJob, let lastStarted else {
            return "\(end), and the file \(JobCounter.suffix) beside it, which counts the jobs, is missing"
        }
        if lastJob == ledgerJob {
            return "it was copied while job \(lastJob) of \(lastStarted) ran, which has ended since"
        }
        return "\(end), but job \(lastJob) began at \(lastStarted)"
    }
}
