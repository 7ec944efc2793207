import Console
import Delivery
import Files
import Systems

/// The file that `--metrics` names: it is replaced by each job, whatever became of it.
struct MetricsFile {
    let path: String

    /// Writes what the job and its ledger say.
    /// - Parameter ledger: the path of the ledger, which may not exist.
    /// - Throws: `FileError`.
    func write(status: Int32, ledger: LedgerOptions, unusableBundles: Int) throws {
        let now = SystemClock.now
        // What is wrong with the ledger is told by the job itself, and shows in the status.
        let overview = try? LedgerView(path: ledger.path()).overview(today: ledger.days.day(of: now))
        let text = MetricsText(
            overview, knowing: Systems.table, status: status, now: now, unusableBundles: unusableBundles)
        let output = try AtomicOutput(path: path, replacing: true)
        // The file names nobody, and the program that collects metrics runs as another user.
        try output.setPermissions(0o644)
        try output.write(text.bytes.span)
        try output.commit()
    }
}
