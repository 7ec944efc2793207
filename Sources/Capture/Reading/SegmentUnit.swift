import Bundle
import Telemetry

/// A segment of a bundle, read by one job.
struct SegmentUnit: Sendable {
    let input: Int
    let bundle: BundleReader
    let segment: Manifest.Segment

    /// Reads the records, copying their lines unchanged unless they are pseudonymized.
    ///
    /// - Throws: ``BundleError`` if the segment cannot be read.
    func read(_ options: ScanOptions) throws(BundleError) -> ScanOutput {
        var output = ScanOutput(capture: bundle.path, input: input, writingWith: options)
        let isUnchanged = options.pseudonymizer == nil
        let contents = try bundle.forEachRecord(of: segment) { record, line, written in
            if isUnchanged {
                output.add(record, at: line, written)
            } else {
                output.add(copy record)
            }
        }
        if isUnchanged { output.adopt(lines: contents) }
        output.bytesRead = contents.count
        return output
    }
}
