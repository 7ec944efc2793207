import JSONText
import Telemetry

/// The records in the contents of a segment, line by line.
public struct RecordLines {
    private let contents: [UInt8]
    private var position = 0
    private var document = JSONDocument()
    /// The number of the line read last, from 1.
    public private(set) var line = 0

    /// Takes the contents of a segment.
    public init(_ contents: [UInt8]) {
        self.contents = contents
    }

    /// The next record, and where its line with the line feed stands.
    /// - Returns: nil at the end.
    /// - Throws: `RecordError`; reading can go on with the next line.
    public mutating func next() throws(RecordError) -> (record: Record, range: Range<Int>)? {
        guard position < contents.count else { return nil }
        line += 1
        let start = position
        guard let end = contents[start...].firstIndex(of: UInt8(ascii: "\n")) else {
            position = contents.count
            throw RecordError("no line feed at the end")
        }
        position = end + 1
        return (try Record(lineAt: start..<end, of: contents, using: &document), start..<end + 1)
    }
}
