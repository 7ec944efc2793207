import Console
import Delivery
import Files
import Systems
import Telemetry

/// The file that the option `--metrics` specifies.
///
/// Each job replaces the file when it begins to send and when it ends, even if it fails. A job that ends because another
/// one is running does not replace it, so that the metrics of a job that does not end become old. A file that does not
/// contain metrics of this program is never replaced.
struct MetricsFile {
    let path: String

    /// The beginnings of files that can be replaced.
    private static let prefixes = ["# HELP \(MetricsText.namePrefix)", "# TYPE \(MetricsText.namePrefix)"]

    /// Throws an error if the file exists and is neither empty nor written by this program.
    func requireMetrics() throws {
        // A file that is not a regular file is reported when it is replaced.
        var file: InputFile
        do throws(FileError) {
            file = try InputFile(path: path)
        } catch {
            if error.isNotFound || error.isNotAFile { return }
            throw CommandError(
                status: .cannotCreate, message: "cannot replace \(path): it is not readable, so it may not be metrics",
                remedy: "remove the file, or give another name with --metrics")
        }
        let head = try [UInt8](capacity: Self.prefixes.map(\.utf8.count).max() ?? 0) { output throws(FileError) in
            try file.read(at: 0, into: &output)
        }
        guard !head.isEmpty, !Self.prefixes.contains(where: { head.starts(with: $0.utf8) }) else { return }
        throw CommandError(
            status: .cannotCreate, message: "cannot replace \(path): it does not contain metrics of this program",
            remedy: "remove the file, or give another name with --metrics")
    }

    /// Writes the metrics of a running job.
    ///
    /// A full disk is reported only, because it is no reason to send nothing. If it is still full at the end of the job,
    /// ``write(_:ledger:unusableBundles:undelivered:)`` throws an error.
    func writeStart(_ start: Timestamp, ledger: LedgerOptions) throws {
        do {
            try write(.running(since: start), ledger: ledger)
        } catch let error as FileError where error.isDiskFull {
            CommandError(error).report(as: PingferryUpload.name)
        }
    }

    /// Writes the metrics of a job, and the metrics of its ledger if the ledger can be read.
    func write(
        _ job: MetricsText.JobState, ledger: LedgerOptions, unusableBundles: Int = 0,
        undelivered: [UndeliveredReason: Int] = [:]
    ) throws {
        // An error of the ledger is ignored here. The job reports it, and the exit status in the metrics depends on it.
        let overview = try? LedgerView(path: ledger.path()).overview(
            today: ledger.dayRule.day(of: SystemClock.now), knowing: Systems.table)
        let text = MetricsText(
            overview, knowing: Systems.table, job, unusableBundles: unusableBundles, undelivered: undelivered)
        try requireMetrics()
        let output = try AtomicOutput(path: path, replacing: true)
        // The file contains no client ids, and the program that collects metrics runs as another user.
        try output.setPermissions(0o644)
        try output.write(text.bytes.span)
        try output.commit()
    }
}
