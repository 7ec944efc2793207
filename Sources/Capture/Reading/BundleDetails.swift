import Bundle
import Telemetry

/// The quarantine and the problems of a bundle, read in batches that stay small.
struct BundleDetails: ~Copyable {
    private let input: Int
    private var quarantine: DetailCursor<Quarantined>
    private var problems: DetailCursor<PlacedProblem>

    /// The most entries of a batch.
    private static let batchCount = 4096

    /// - Throws: ``BundleError`` if there is not enough memory.
    init(of bundle: BundleReader, input: Int) throws(BundleError) {
        let quarantine = try DetailCursor<Quarantined>(BundleLayout.quarantine, of: bundle)
        let problems = try DetailCursor<PlacedProblem>(BundleLayout.problems, of: bundle)
        self.input = input
        self.quarantine = quarantine
        self.problems = problems
    }

    /// The next batch; nil at the end.
    /// - Throws: ``BundleError``.
    mutating func next() throws(BundleError) -> Batch? {
        var batch = Batch()
        while batch.quarantined.count < Self.batchCount, let item = try quarantine.next() {
            batch.quarantined.append(Batch.QuarantineEntry(input: input, item: item))
        }
        while batch.quarantined.count + batch.problems.count < Self.batchCount, let problem = try problems.next() {
            batch.problems.append(problem)
        }
        return batch.quarantined.isEmpty && batch.problems.isEmpty ? nil : batch
    }
}
