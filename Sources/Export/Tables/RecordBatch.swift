import Telemetry

/// Lines of some records, kept until a job makes rows of them.
struct RecordBatch: Sendable {
    struct Entry: Sendable {
        let summary: RecordSummary
        /// The record with 0 as its payload, in ``RecordBatch/text``.
        let frame: Range<Int>
        /// Its payload, in ``RecordBatch/text``.
        let payload: Range<Int>
    }

    /// The number of the first record.
    let first: Int
    private(set) var text: [UInt8] = []
    private(set) var entries: [Entry] = []

    /// Lines are handed on when they have this many bytes: more would not stay in the cache of a core.
    static let sizeGoal = 256 << 10

    init(first: Int) {
        self.first = first
        text.reserveCapacity(Self.sizeGoal + Self.sizeGoal / 4)
    }

    /// The number of the record that comes next.
    var next: Int { first + entries.count }
    var isFull: Bool { text.count >= Self.sizeGoal }

    /// Adds a record: its canonical line with the line feed, and the part of the line that is its payload.
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
