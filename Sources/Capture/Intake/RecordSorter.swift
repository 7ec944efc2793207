import Bytes
import Files
import SQLite
import Telemetry

/// A sorter that orders records by the pseudonyms of their clients and by the hashes of their pseudonymized ids.
///
/// In the order of the captures, the same record would have the same position in files with different keys. The order of
/// pseudonyms depends on the key, so that positions reveal nothing. Records with the same client and id stay in the order
/// in which they were added, because only the later ones have the note about a repeated id.
///
/// SQLite sorts the lines in a private file, so that memory use does not depend on their number.
///
/// Source: "Pseudonyms", section "The order of records".
final class RecordSorter {
    private let systems: SystemTable
    private let database: NewDatabase
    private let insertion: RowInsertion

    /// The size of the lines, in bytes, after which a batch of records ends.
    private static let batchSize = 1 << 20

    /// Creates an empty sorter for records of `systems`.
    init(knowing systems: SystemTable, limit: JobLimit) throws(FileError) {
        self.systems = systems
        do {
            database = try NewDatabase(path: "", threads: limit.jobs)
            try database.run("CREATE TABLE lines (client, identity, input, store, part, line)")
            insertion = try database.insertion(into: "lines", columns: 6)
        } catch {
            throw FileError(sorting: error)
        }
    }

    /// Adds a pseudonymized record, whose line is `line`.
    func add(_ entry: borrowing ScanOutput.Entry, line: ArraySlice<UInt8>) throws(FileError) {
        let lineEnd = line.count
        // The client follows the line, because all strings of a row are in one buffer.
        let text = Array(line) + (entry.summary.client ?? "").utf8
        let identity = Int64(bitPattern: entry.key.identity.high)
        let values: [RowInsertion.Value] = [
            .text(start: lineEnd, count: text.count - lineEnd), .integer(identity), .integer(Int64(entry.input)),
            entry.place.map { .integer(Int64($0.store)) } ?? .null,
            entry.place.map { .integer(Int64($0.part)) } ?? .null, .text(start: 0, count: lineEnd),
        ]
        do { try insertion.add(rows: 1, text: text.span) { values[$0] } } catch { throw FileError(sorting: error) }
    }

    /// Calls `body` with each record, its line, and the payload part of the line, in the order of the pseudonyms.
    ///
    /// `afterBatch` is called after every few records.
    ///
    /// - Throws: `FileError` with operation `spool`, and the errors of `body` and `afterBatch`.
    func passRecords(
        to body: (borrowing ScanOutput.Entry, ArraySlice<UInt8>, ArraySlice<UInt8>) throws -> Void,
        afterBatch: () async throws -> Void
    ) async throws {
        var memory = RecordMemory()
        var size = 0
        let rows = try sortedRows()
        while try advance(rows) {
            let line = rows.row.withBytes(of: 3) { $0.withUnsafeBytes { [UInt8]($0) } }
            let record = try Record(lineAt: 0..<line.count - 1, of: line, using: &memory, knowing: systems)
            let (store, part): (Int64?, Int64?) = (rows.row[1], rows.row[2])
            let place = store.flatMap { store in
                part.map { ScanOutput.StorePlace(store: Int(store), part: Int($0)) }
            }
            let entry = ScanOutput.Entry(
                record, line: 0..<line.count, written: memory.written, key: RecordKey(record),
                rank: CopyRank(record.held), input: Int(rows.row[0] as Int64), place: place,
                leftOut: PseudonymCounts(), sequenceNumber: nil)
            try body(entry, line[...], line[memory.written.payload])
            size += line.count
            guard size >= Self.batchSize else { continue }
            size = 0
            try await afterBatch()
        }
        try await afterBatch()
    }

    private func sortedRows() throws(FileError) -> RowCursor {
        do {
            return try database.rows(of: "SELECT input, store, part, line FROM lines ORDER BY client, identity, rowid")
        } catch {
            throw FileError(sorting: error)
        }
    }

    private func advance(_ rows: borrowing RowCursor) throws(FileError) -> Bool {
        do { return try rows.next() } catch { throw FileError(sorting: error) }
    }
}

extension FileError {
    fileprivate init(sorting error: any Error) {
        self.init(error, .spool, "temporary files", doing: "sort the records")
    }
}
