import Bytes
import JSONText
import Telemetry

/// The records in the contents of a segment, line by line.
public struct RecordLines {
    let contents: [UInt8]
    private var cursor = LineCursor()
    private let systems: SystemTable
    private var memory = RecordMemory()
    /// The number of the line that was read last, from 1.
    public var line: Int { cursor.count }

    /// Takes the contents of a segment.
    /// - Parameter systems: those that records may be of.
    public init(_ contents: [UInt8], knowing systems: SystemTable) {
        self.contents = contents
        self.systems = systems
    }

    /// Where the parts of the record that was read last stand in the contents.
    var written: WrittenRecord { memory.written }

    /// The next record, and where its line with the line feed stands.
    /// - Returns: nil at the end.
    /// - Throws: `RecordError` for a line that is no record, or one that contradicts itself; reading can go on with the next
    ///   line.
    public mutating func next() throws(RecordError) -> (record: Record, range: Range<Int>)? {
        let contents = contents
        guard let line = cursor.next(in: contents.span) else { return nil }
        guard line.isTerminated else { throw RecordError("no line feed at the end") }
        let record = try Record(lineAt: line.range, of: contents, using: &memory, knowing: systems)
        if let contradiction = record.contradiction(knowing: systems) { throw RecordError(contradiction) }
        return (record, line.range.lowerBound..<line.range.upperBound + 1)
    }
}

extension BundleReader {
    /// Reads the records of a segment.
    /// - Parameter body: takes each record, and where its line with the line feed, and the parts of it, stand in the segment.
    /// - Returns: the bytes of the segment.
    /// - Throws: ``BundleError`` for a segment that is not as the manifest says, or holds anything but records.
    public func forEachRecord(
        of segment: Manifest.Segment, _ body: (borrowing Record, Range<Int>, WrittenRecord) -> Void
    ) throws(BundleError) -> [UInt8] {
        var decoder = try Self.makeDecoder()
        let contents = try contents(of: segment.path, with: &decoder)
        var lines = RecordLines(contents, knowing: systems)
        do throws(RecordError) {
            while let (record, range) = try lines.next() { body(record, range, lines.written) }
        } catch {
            throw .badRecord(member: segment.path, line: lines.line, reason: error.description)
        }
        guard lines.line == segment.records else { throw .count("the number of records of \(segment.path)") }
        return contents
    }
}
