import Bundle
import Files
import Telemetry

/// The records that are passed on after all inputs have been read, because better copies of them may follow.
///
/// Lines are stored in an unnamed file. Only one entry per record stays in memory.
///
/// Source: "The record", section "Copies".
struct DeferredCopies: Sendable {
    /// A record without its strings, which are read from its line again.
    private struct Copy: Sendable {
        let key: RecordKey
        let rank: CopyRank
        let linePosition: Int
        let input: Int
        let place: ScanOutput.StorePlace?
        let leftOut: PseudonymCounts
        let sequenceNumber: SequenceNumber?
        /// Whether a better copy was added later.
        var isSuperseded = false
        /// Whether another copy of the record has other holds.
        var isDecision = false
    }

    private var copies: [Copy] = []
    /// The index of the best copy of each record.
    private var best: [RecordKey: Int] = [:]
    private var lines: DetailSpill
    private var memory = RecordMemory()

    /// The effect of adding a copy of a record.
    enum Addition {
        /// The copy is the first one.
        case first
        /// The copy replaces another one, which is passed on as superseded.
        case replacement
        /// A better copy, or an equal earlier one, was added before.
        case dropped
    }

    /// The fate of a copy that was added.
    enum Fate {
        /// A better copy exists.
        case superseded
        /// The copy is kept. `isDecision` states whether its holds differ from those of another copy.
        case kept(isDecision: Bool)
    }

    /// Creates an empty list that stores lines in `folder`.
    init(folder: String) { lines = DetailSpill(folder: folder) }

    /// Adds a record.
    ///
    /// - Throws: `FileError` with operation `spool`.
    mutating func add(_ entry: borrowing ScanOutput.Entry, line: ArraySlice<UInt8>) throws(FileError) -> Addition {
        let known = best[entry.key]
        if let known {
            guard entry.rank < copies[known].rank else {
                if entry.rank != copies[known].rank { copies[known].isDecision = true }
                return .dropped
            }
            copies[known].isSuperseded = true
        }
        best[entry.key] = copies.count
        copies.append(
            Copy(
                key: entry.key, rank: entry.rank, linePosition: try lines.append(Array(line)), input: entry.input,
                place: entry.place, leftOut: entry.leftOut, sequenceNumber: entry.sequenceNumber,
                isDecision: known != nil))
        return known == nil ? .first : .replacement
    }

    /// The number of copies that were added, including superseded ones.
    var count: Int { copies.count }

    /// Calls `body` with the copy at `index`, its line and its fate.
    ///
    /// A superseded copy is passed on only if `includesSuperseded` is `true`.
    ///
    /// - Throws: `FileError` if the line cannot be read, and the errors of `body`.
    mutating func withCopy(
        at index: Int, knowing systems: SystemTable, includesSuperseded: Bool,
        _ body: (borrowing ScanOutput.Entry, ArraySlice<UInt8>, Fate) throws -> Void
    ) throws {
        let copy = copies[index]
        guard !copy.isSuperseded || includesSuperseded else { return }
        let line = try lines.entry(at: copy.linePosition).line
        let record = try Record(lineAt: 0..<line.count - 1, of: line, using: &memory, knowing: systems)
        try body(
            ScanOutput.Entry(
                record, line: 0..<line.count, written: memory.written, key: copy.key, rank: copy.rank,
                input: copy.input, place: copy.place, leftOut: copy.leftOut, sequenceNumber: copy.sequenceNumber),
            line[...], copy.isSuperseded ? .superseded : .kept(isDecision: copy.isDecision))
    }
}
