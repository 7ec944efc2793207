import Console
import Delivery
import Files
import Systems

/// The file that the option `--metrics` specifies.
///
/// Each job replaces the file, even if the job fails.
struct MetricsFile {
    let path: String

    /// Writes the metrics of the job, and the metrics of its ledger if the ledger can be read.
    func write(status: Int32, ledger: LedgerOptions, unusableBundles: Int) throws {
        let now = SystemClock.now
        // An error of the ledger is ignored here. The job reports it, and the exit status in the metrics depends on it.
        let overview = try? LedgerView(path: ledger.path()).overview(
            today: ledger.dayRule.day(of: now), knowing: Systems.table)
        let text = MetricsText(
            overview, knowing: Systems.table, status: status, now: now, unusableBundles: unusableBundles)
        let output = try AtomicOutput(path: path, replacing: true)
        // The file contains no client ids, and the program that collects metrics runs as another user.
        try output.setPermissions(0o644)
        try output.write(text.bytes.span)
        try output.commit()
    }
}
