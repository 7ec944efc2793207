import Telemetry

/// The lines of consecutive records that are converted to rows by one job.
struct RecordBatch: Sendable {
    struct Entry: Sendable {
        let summary: RecordSummary
        /// The range, in ``RecordBatch/text``, of the record with its payload replaced by 0.
        let envelope: Range<Int>
        /// The range, in ``RecordBatch/text``, of the payload.
        let payload: Range<Int>
    }

    /// The number of the first record in the batch.
    let firstNumber: Int
    private(set) var text: [UInt8] = []
    private(set) var entries: [Entry] = []

    /// The size, in bytes, at which a batch is full.
    ///
    /// A full batch fits into the cache of a processor core.
    static let sizeGoal = 256 << 10

    init(firstNumber: Int) {
        self.firstNumber = firstNumber
        text.reserveCapacity(Self.sizeGoal + Self.sizeGoal / 4)
    }

    /// The number of the first record after the batch.
    var nextNumber: Int { firstNumber + entries.count }
    var isFull: Bool { text.count >= Self.sizeGoal }

    /// Adds a record.
    ///
    /// `line` is its canonical line, including the line feed. `payload` is the part of `line` with the payload.
    mutating func add(_ summary: RecordSummary, line: ArraySlice<UInt8>, payload: ArraySlice<UInt8>) {
        let start = text.count
        text += line[..<payload.startIndex]
        text.append(UInt8(ascii: "0"))
        text += line[payload.endIndex..<line.endIndex - 1]
        let end = text.count
        text += payload
        entries.append(Entry(summary: summary, envelope: start..<end, payload: end..<text.count))
    }
}
