import Bundle
import Telemetry

/// A batch reader for the quarantine, the problems and the withdrawals of a bundle.
struct BundleDetails: ~Copyable {
    private var quarantine: DetailCursor<QuarantineEntry>
    private var problems: DetailCursor<LocatedProblem>
    private var withdrawals: DetailCursor<Withdrawal>

    /// Opens the lists of quarantined items, problems and withdrawals in `bundle`.
    ///
    /// - Throws: ``BundleError`` if there is not enough memory.
    init(of bundle: BundleReader) throws(BundleError) {
        let quarantine = try DetailCursor<QuarantineEntry>(BundleLayout.quarantine, of: bundle)
        let problems = try DetailCursor<LocatedProblem>(BundleLayout.problems, of: bundle)
        let withdrawals = try DetailCursor<Withdrawal>(BundleLayout.withdrawals, of: bundle)
        self.quarantine = quarantine
        self.problems = problems
        self.withdrawals = withdrawals
    }

    /// Reads entries until the output is full or the lists end, and returns whether an entry was read.
    mutating func read(into output: inout ScanOutput) throws(BundleError) -> Bool {
        while !output.isFull, let item = try quarantine.next() { output.quarantine(item) }
        while !output.isFull, let problem = try problems.next() { output.report(problem) }
        while !output.isFull, let withdrawal = try withdrawals.next() { output.report(withdrawal) }
        return !output.quarantined.isEmpty || !output.problems.isEmpty || !output.withdrawals.isEmpty
    }
}
