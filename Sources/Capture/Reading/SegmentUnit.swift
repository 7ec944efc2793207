import Bundle
import Telemetry

/// A segment of a bundle, read by one job.
struct SegmentUnit: Sendable {
    let input: Int
    let bundle: BundleReader
    let segment: Manifest.Segment

    /// Reads the records; their lines are the same bytes as in the bundle, unless they get pseudonyms.
    /// - Throws: ``BundleError``.
    func read(_ options: HarvestOptions) throws(BundleError) -> Batch {
        var batch = Batch()
        var pseudonymizer = options.pseudonymizer
        let isAsItStands = pseudonymizer == nil
        let contents = try bundle.forEachRecord(of: segment) { record, line, written in
            if isAsItStands {
                batch.take(record, at: line, written, input: input, options)
            } else {
                batch.take(record, input: input, place: nil, options, &pseudonymizer)
            }
        }
        if isAsItStands { batch.adopt(lines: contents) }
        batch.bytesRead = contents.count
        return batch
    }
}
