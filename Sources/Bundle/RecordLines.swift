import Bytes
import JSONText
import Telemetry

/// A reader that parses the records of a segment line by line.
public struct RecordLines {
    let contents: [UInt8]
    private var cursor = LineCursor()
    private let systems: SystemTable
    private var memory = RecordMemory()
    /// The number of the last line that was read, starting at 1, or 0 if no line was read.
    public var lineNumber: Int { cursor.count }

    /// Creates a reader of the contents of a segment.
    public init(_ contents: [UInt8], knowing systems: SystemTable) {
        self.contents = contents
        self.systems = systems
    }

    /// The layout of the most recently read record, as offsets in `contents`.
    var recordLayout: RecordLineLayout { memory.written }

    /// Returns the next record and the range of its line, including the line feed, or `nil` after the last record.
    ///
    /// After an error, reading can continue with the next line.
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
    /// Reads the records of a segment, and returns the contents of the segment.
    ///
    /// `body` is called with each record, the range of the record's line including the line feed, and the positions of
    /// the parts of the record in the contents.
    public func forEachRecord(
        of segment: Manifest.Segment, _ body: (borrowing Record, Range<Int>, RecordLineLayout) -> Void
    ) throws(BundleError) -> [UInt8] {
        var decoder = try Self.makeDecoder()
        let contents = try contents(of: segment.path, with: &decoder)
        var lines = RecordLines(contents, knowing: systems)
        do throws(RecordError) {
            while let (record, range) = try lines.next() { body(record, range, lines.recordLayout) }
        } catch {
            let (line, reason) = (lines.lineNumber, error.description)
            throw error.isUnknownName
                ? BundleError.unknownName(member: segment.path, line: line, reason: reason)
                : BundleError.badRecord(member: segment.path, line: line, reason: reason)
        }
        guard lines.lineNumber == segment.records else {
            throw .countMismatch("the number of records of \(segment.path)")
        }
        return contents
    }
}
