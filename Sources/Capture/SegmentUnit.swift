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
        var decoder = try BundleReader.makeDecoder()
        var batch = Batch()
        let contents = try bundle.contents(of: segment, with: &decoder)
        batch.bytesRead = contents.count
        var lines = RecordLines(contents)
        do throws(RecordError) {
            while let (record, _) = try lines.next() {
                if let contradiction = record.contradiction { throw RecordError(contradiction) }
                guard options.filter.passes(record) else { continue }
                batch.append(record, key: RecordKey(record, secret: options.secret), input: input, place: nil)
            }
        } catch {
            throw .badRecord(member: segment.path, line: lines.line, reason: error.description)
        }
        guard lines.line == segment.records else { throw .count("the number of records of \(segment.path)") }
        return batch
    }
}
