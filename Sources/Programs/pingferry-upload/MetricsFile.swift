import Console
import Delivery
import Files
import Systems

/// The file of the option `--metrics`, which each job replaces, even if the job fails.
struct MetricsFile {
    let path: String

    /// Writes the metrics of the job and of its ledger, which may be missing.
    func write(status: Int32, ledger: LedgerOptions, unusableBundles: Int) throws {
        let now = SystemClock.now
        // The job itself reports errors of the ledger. They determine the exit status in the metrics.
        let overview = try? LedgerView(path: ledger.path()).overview(today: ledger.days.day(of: now))
        let text = MetricsText(
            overview, knowing: Systems.table, status: status, now: now, unusableBundles: unusableBundles)
        let output = try AtomicOutput(path: path, replacing: true)
        // The file contains no client ids, and the program that collects metrics runs as another user.
        try output.setPermissions(0o644)
        try output.write(text.bytes.span)
        try output.commit()
    }
}
