import Bundle
import Telemetry

/// A segment of a bundle, read by one job.
struct SegmentUnit: Sendable {
    let input: Int
    let bundle: BundleReader
    let segment: Manifest.Segment

    /// Reads the records; their lines are the same bytes as in the bundle.
    /// - Throws: ``BundleError``.
    func read(_ options: HarvestOptions) throws(BundleError) -> Batch {
        var batch = Batch()
        batch.bytesRead = try bundle.forEachRecord(of: segment) { record, _ in
            guard options.filter.passes(record, noting: &batch.filtered) else { return }
            batch.append(record, key: RecordKey(record, secret: options.scan.secret), input: input, place: nil)
        }
        return batch
    }
}
