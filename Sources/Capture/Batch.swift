import Telemetry

/// A run of records and what else was found while reading them, in the order of the capture.
public struct Batch: Sendable {
    /// The records' lines, one after another.
    public private(set) var lines: [UInt8] = []
    /// The records.
    public private(set) var records: [Entry] = []
    /// What could not be understood.
    public internal(set) var quarantined: [QuarantineEntry] = []
    /// What is worth telling.
    public internal(set) var problems: [PlacedProblem] = []
    /// Bytes that were read.
    public internal(set) var bytesRead = 0

    /// What is known of a record, and where its line stands.
    public struct Entry: Sendable {
        /// The record in short.
        public let summary: RecordSummary
        /// The line with its line feed, in ``Batch/lines``.
        public let line: Range<Int>
        /// Where the payload stands, in ``Batch/lines``.
        public let payload: Range<Int>
        /// What tells duplicates.
        public let key: RecordKey
        /// The input that it came from, counted from 0.
        public let input: Int
        /// The place of its store among those of the input; nil for a bundle.
        public let store: Int?
    }

    /// Something for the quarantine.
    public struct QuarantineEntry: Sendable {
        /// The input that it came from, counted from 0.
        public let input: Int
        /// What it is.
        public var item: Quarantined
    }

    /// A batch is handed on when it holds this many bytes, so that memory does not grow with the input.
    static let sizeGoal = 4 << 20

    mutating func append(_ record: borrowing Record, key: RecordKey, input: Int, store: Int?) {
        let start = lines.count
        let payload = record.write(to: &lines)
        records.append(
            Entry(
                summary: RecordSummary(record), line: start..<lines.count, payload: payload, key: key, input: input,
                store: store))
    }
}
