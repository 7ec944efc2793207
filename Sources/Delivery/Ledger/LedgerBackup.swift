import Files
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
        let job = JobCounter.Job(
            number: number, started: Timestamp(clamping: started &* 1000).description, isInLedger: true)
        try JobCounter(ofLedger: realPath).store(job)
    }
}
