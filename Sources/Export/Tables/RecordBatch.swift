import Telemetry

/// The lines of consecutive records, from which a job builds rows.
struct RecordBatch: Sendable {
    struct Entry: Sendable {
        let summary: RecordSummary
        /// The range of the record, with 0 in place of the payload, in ``RecordBatch/text``.
        let frame: Range<Int>
        /// The range of the payload in ``RecordBatch/text``.
        let payload: Range<Int>
    }

    /// The number of the first record.
    let first: Int
    private(set) var text: [UInt8] = []
    private(set) var entries: [Entry] = []

    /// The size, in bytes, at which a batch is full, so that it fits into the cache of a core.
    static let sizeGoal = 256 << 10

    init(first: Int) {
        self.first = first
        text.reserveCapacity(Self.sizeGoal + Self.sizeGoal / 4)
    }

    /// The number of the record after the batch.
    var next: Int { first + entries.count }
    var isFull: Bool { text.count >= Self.sizeGoal }

    /// Adds a record with its canonical line, including the line feed, and the payload in that line.
    mutating func add(_ summary: RecordSummary, line: ArraySlice<UInt8>, payload: ArraySlice<UInt8>) {
        let start = text.count
        text += line[..<payload.startIndex]
        text.append(UInt8(ascii: "0"))
        text += line[payload.endIndex..<line.endIndex - 1]
        let end = text.count
        text += payload
        entries.append(Entry(summary: summary, frame: start..<end, payload: end..<text.count))
    }
}
