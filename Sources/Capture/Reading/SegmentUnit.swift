import Bundle
import Telemetry

/// A segment of a bundle, read by one job.
struct SegmentUnit: Sendable {
    let input: Int
    let bundle: BundleReader
    let segment: Manifest.Segment

    /// Reads the records; their lines are the same bytes as in the bundle, unless they get pseudonyms.
    /// - Throws: ``BundleError``.
    func read(_ options: ScanOptions) throws(BundleError) -> ScanOutput {
        var output = ScanOutput(capture: bundle.path, input: input, writingWith: options)
        let isAsItStands = options.pseudonymizer == nil
        let contents = try bundle.forEachRecord(of: segment) { record, line, written in
            if isAsItStands {
                output.add(record, at: line, written)
            } else {
                output.add(copy record)
            }
        }
        if isAsItStands { output.adopt(lines: contents) }
        output.bytesRead = contents.count
        return output
    }
}
