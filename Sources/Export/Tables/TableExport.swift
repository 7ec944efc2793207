import Bundle
import Bytes
import Files
import Telemetry

/// An export of records, problems and quarantined input as tables.
///
/// Rows are built on all cores and written in order.
///
/// ```swift
/// var export = try TableExport(
///     .csv, path: path, replacing: false, systems: Systems.table, limit: JobLimit(jobs: 2))
/// export.add(RecordSummary(record), line: line[...], payload: line[written.payload])
/// try await export.writeFinishedRows()
/// export.add(meta: "tool", "1.0")
/// let counts = try await export.finish()
/// ```
public struct TableExport: ~Copyable {
    /// The format of the output.
    public enum Format {
        /// An SQLite database.
        case sqlite
        /// A folder with a CSV file for each table.
        case csv
        /// A folder as with ``csv``, with an apostrophe before text that a spreadsheet would evaluate as a formula.
        case csvForSpreadsheets
        /// A folder with a Parquet file for each table.
        ///
        /// `creator` is the name and the version of the writing program, such as `pingferry version 1.0`.
        case parquet(creator: String)
        /// A timeline of the events in the format of Timesketch, without the other tables.
        case timeline(any StreamSink)
        /// Counts for a report.
        case report(ReportCounter)
    }

    /// The part of the input that is exported.
    public enum Coverage: Sendable {
        /// All selected records of the input.
        case complete
        /// The records of selected segments only.
        ///
        /// Gaps are not exported, because missing sequence numbers are expected.
        case segments
    }

    private let tables: ExportTables
    private let sink: any TableSink
    private let rowJobs: any RowJobs
    private var batch = RecordBatch(firstNumber: 1)
    private var clients = ClientSummaries(isForExport: true)
    /// The sequence numbers of the records, or `nil` if the output does not contain gaps.
    private var sequences: SequenceIndex?
    private var rowCounts: [Int]
    /// The rows that do not belong to records and have not been written yet.
    private var otherRows: RowBuffer
    private let limit: JobLimit

    /// Creates the output, which becomes visible when ``finish()`` is called.
    ///
    /// `path` is ignored if the format is a timeline or a report.
    public init(
        _ format: Format, path: String, replacing: Bool, systems: SystemTable, coverage: Coverage = .complete,
        limit: JobLimit
    ) throws(FileError) {
        let tables = ExportTables(systems)
        self.tables = tables
        self.limit = limit
        let sink: any TableSink =
            switch format {
            case .sqlite: try SQLiteSink(path: path, replacing: replacing, tables: tables.all, threads: limit.jobs)
            case .csv: try CSVSink(path: path, replacing: replacing, tables: tables.all, style: .plain)
            case .csvForSpreadsheets:
                try CSVSink(path: path, replacing: replacing, tables: tables.all, style: .spreadsheet)
            case .parquet(let creator):
                try ParquetSink(path: path, replacing: replacing, tables: tables.all, creator: creator, limit: limit)
            case .timeline(let output): try TimelineSink(output, threads: limit.jobs)
            case .report(let counter): counter
            }
        switch (format, coverage) {
        case (.timeline, _), (_, .segments): sequences = nil
        case (.sqlite, .complete), (.csv, .complete), (.csvForSpreadsheets, .complete), (.parquet, .complete),
            (.report, .complete):
            sequences = SequenceIndex(systems)
        }
        self.sink = sink
        rowJobs = makeRowJobs(for: sink, tables, systems, limit)
        rowCounts = Array(repeating: 0, count: tables.all.count)
        otherRows = RowBuffer(tables.all)
    }

    /// The identities of the output files, which must not be read as input.
    public var identities: Set<FileIdentity> { sink.identities }

    /// The number of rows that a timeline omits because they have no time.
    public var untimedRowCount: Int { sink.untimedRowCount }

    /// Adds a record.
    ///
    /// `line` is its canonical line, including the line feed. `payload` is the part of `line` with the payload.
    public mutating func add(_ record: RecordSummary, line: ArraySlice<UInt8>, payload: ArraySlice<UInt8>) {
        batch.add(record, line: line, payload: payload)
        if batch.isFull { closeBatch() }
    }

    /// Adds a row for a problem to the table `problems`.
    public mutating func add(_ problem: LocatedProblem) {
        addRow(to: ExportTables.problems) { buffer in
            [
                buffer.keep(problem.capture), buffer.keep(problem.path), Self.integerCell(problem.problem.offset),
                buffer.keep(problem.problem.code), buffer.keep(problem.problem.text),
            ]
        }
    }

    /// Adds a row for a quarantined item to the table `quarantine`.
    public mutating func add(_ item: QuarantineEntry) {
        addRow(to: ExportTables.quarantine) { buffer in
            [
                buffer.keep(item.capture), buffer.keep(item.path), Self.integerCell(item.reject.offset),
                Self.integerCell(item.reject.length), buffer.keep(item.sha256),
                buffer.keep(String(item.reject.reason.prefix { $0 != " " })), buffer.keep(item.reject.reason),
                .flag(item.isStored), .integer(Int64(item.size)),
            ]
        }
    }

    /// Adds a row to the table `meta`.
    public mutating func add(meta key: String, _ value: String) {
        let index = tables.index(of: ExportTables.meta)
        otherRows.add([otherRows.keep(key), otherRows.keep(value)], to: index)
    }

    /// Adds stores and the states of their queues.
    public mutating func add(_ stores: some Sequence<ExportedStore>) throws {
        for store in stores {
            let number = addRow(to: ExportTables.stores, store.storeCells)
            if let queue = store.queue {
                addRow(to: ExportTables.queues) { store.cells(of: queue, store: number, &$0) }
            }
            if otherRows.text.count > RecordBatch.sizeGoal { try writeOtherRows() }
        }
    }

    /// Adds a row, which consists of a row number and the cells from `cells`, and returns the row number.
    @discardableResult
    private mutating func addRow(to table: Table, _ cells: (inout RowBuffer) -> [Cell]) -> Int {
        let index = tables.index(of: table)
        let row = cells(&otherRows)
        let number = rowCounts[index] + otherRows.rowCount(ofTableAt: index, table) + 1
        otherRows.add([.integer(Int64(number))] + row, to: index)
        return number
    }

    private static func integerCell(_ number: (some SignedInteger)?) -> Cell {
        number.map { .integer(Int64($0)) } ?? .null
    }

    private mutating func closeBatch() {
        let full = batch
        batch = RecordBatch(firstNumber: full.nextNumber)
        rowJobs.startJob(for: full)
    }

    /// Writes rows until the number of pending jobs is just enough to keep all cores busy.
    public mutating func writeFinishedRows() async throws {
        while rowJobs.pendingCount > 2 * limit.jobs { try await writeNextBatch() }
        if otherRows.text.count > RecordBatch.sizeGoal { try writeOtherRows() }
    }

    private mutating func writeNextBatch() async throws {
        guard let written = try await rowJobs.writeNextBatch() else { return }
        for (index, count) in written.rowCounts.enumerated() { rowCounts[index] += count }
        for record in written.records {
            let client = clients.count(record.summary, eventCount: record.eventCount)
            sequences?.add(record.sequenceNumber, of: record.summary, client: client)
        }
    }

    private mutating func writeOtherRows() throws {
        for (index, table) in tables.all.enumerated() {
            rowCounts[index] += otherRows.rowCount(ofTableAt: index, table)
        }
        try rowJobs.write(&otherRows)
        otherRows.removeAll()
    }

    /// Writes the remaining rows and makes the output visible.
    ///
    /// Returns the number of rows, keyed by table name.
    public mutating func finish() async throws -> [CapturedText: Int] {
        if !batch.entries.isEmpty { closeBatch() }
        while rowJobs.pendingCount > 0 { try await writeNextBatch() }
        try writeClients()
        try writeGaps()
        addColumnDescriptions()
        try writeOtherRows()
        try sink.commit()
        return Dictionary(uniqueKeysWithValues: zip(tables.all.map { CapturedText($0.name) }, rowCounts))
    }

    /// Adds a row to the table `columns` for each column of each table, in key order.
    private mutating func addColumnDescriptions() {
        let index = tables.index(of: ExportTables.columns)
        for table in tables.all.sorted(by: { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }) {
            for column in table.columns.sorted(by: { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }) {
                otherRows.add(
                    [
                        otherRows.keep(table.name), otherRows.keep(column.name), otherRows.keep(column.typeDescription),
                        otherRows.keep(column.meaning),
                    ], to: index)
            }
        }
    }

    private mutating func writeClients() throws {
        let clients = clients
        for number in clients.sortedNumbers {
            let (client, apps) = (clients.summary(ofClient: number), clients.apps(ofClient: number))
            addRow(to: ExportTables.clients) { buffer in
                [
                    buffer.keep(client.system), buffer.keep(client.client), buffer.keep(Self.list(apps.ids)),
                    buffer.keep(Self.list(apps.names)), buffer.keep(apps.version), .integer(Int64(client.recordCount)),
                    .integer(Int64(client.uploadableCount)), .integer(Int64(client.eventCount)),
                    client.firstTime.map { buffer.keep($0) } ?? .null, client.lastTime.map { buffer.keep($0) } ?? .null,
                ]
            }
            if otherRows.text.count > RecordBatch.sizeGoal { try writeOtherRows() }
        }
    }

    /// Returns the names in order, separated by a comma and a space, or `nil` if there are none.
    private static func list(_ names: Set<CapturedText>) -> String? {
        guard !names.isEmpty else { return nil }
        return names.sortedStrings.joined(separator: ", ")
    }
}

// MARK: - Gaps

extension TableExport {
    private mutating func writeGaps() throws {
        guard let sequences else { return }
        self.sequences = nil
        try sequences.forEachSequence(of: clients.clients) { sequence in
            try sequence.forEachGap { row in
                add(row)
                if otherRows.text.count > RecordBatch.sizeGoal { try writeOtherRows() }
            }
        }
    }

    private mutating func add(_ row: GapRow) {
        addRow(to: ExportTables.gaps) { buffer in
            [
                buffer.keep(row.system.description), buffer.keep(row.type), buffer.keep(row.client),
                .integer(Int64(row.run)), buffer.keep(row.reason.rawValue), Self.integerCell(row.numbers?.lowerBound),
                Self.integerCell(row.numbers?.upperBound), .integer(Int64(row.count)),
                Self.integerCell(row.numberBefore),
                Self.integerCell(row.numberAfter), row.timeBefore.map { buffer.keep($0) } ?? .null,
                row.timeAfter.map { buffer.keep($0) } ?? .null,
            ]
        }
    }
}

extension RowBuffer {
    /// Returns the number of rows of the table at `index`.
    func rowCount(ofTableAt index: Int, _ table: Table) -> Int { cells[index].count / table.columns.count }
}

// MARK: - Jobs

/// The row counts and the records of a batch whose rows have been built.
struct WrittenRows: Sendable {
    /// The number of rows of each table.
    let rowCounts: [Int]
    let records: [CountedRecord]

}

/// The counted properties of a record.
struct CountedRecord: Sendable {
    let summary: RecordSummary
    let eventCount: Int
    let sequenceNumber: SequenceNumber
}

/// A queue of jobs that build rows for a sink.
private protocol RowJobs: AnyObject {
    /// The number of jobs whose rows have not been written.
    var pendingCount: Int { get }
    /// Starts a job that builds the rows of a batch.
    func startJob(for batch: RecordBatch)
    /// Writes the rows of the oldest job, or returns `nil` if there is none.
    func writeNextBatch() async throws -> WrittenRows?
    /// Writes rows that were not built by a job. Afterwards, the contents of the buffer are unspecified.
    func write(_ rows: inout RowBuffer) throws
}

private func makeRowJobs(
    for sink: some TableSink, _ tables: ExportTables, _ systems: SystemTable, _ limit: JobLimit
) -> any RowJobs {
    SinkJobs(sink, tables, systems, limit)
}

private final class SinkJobs<Sink: TableSink>: RowJobs {
    private struct Prepared: Sendable {
        let contents: Sink.Prepared
        let written: WrittenRows
    }

    private let sink: Sink
    private let tables: [Table]
    private let builders: ValuePool<RowBuilder, any Error>
    private var tasks: OrderedTasks<Prepared>

    init(_ sink: Sink, _ tables: ExportTables, _ systems: SystemTable, _ limit: JobLimit) {
        self.sink = sink
        self.tables = tables.all
        let extraContents = sink.extraContents
        builders = ValuePool { RowBuilder(tables, systems: systems, extraContents) }
        tasks = OrderedTasks(limit: limit)
    }

    var pendingCount: Int { tasks.count }

    func startJob(for batch: RecordBatch) {
        tasks.add { [builders, tables, prepareRows = sink.prepareRows] in
            try builders.withPooledValue { builder in
                let records = try builder.buildRows(of: batch)
                let rowCounts = tables.indices.map { builder.rows.buffer.rowCount(ofTableAt: $0, tables[$0]) }
                return Prepared(
                    contents: prepareRows(&builder.rows.buffer),
                    written: WrittenRows(rowCounts: rowCounts, records: records))
            }
        }
    }

    func writeNextBatch() async throws -> WrittenRows? {
        guard let next = try await tasks.next() else { return nil }
        try sink.write(next.contents)
        sink.recycle(next.contents)
        return next.written
    }

    func write(_ rows: inout RowBuffer) throws {
        let prepared = sink.prepareRows(&rows)
        try sink.write(prepared)
        sink.recycle(prepared)
    }
}
