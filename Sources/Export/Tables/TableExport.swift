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
        /// A folder as with ``csv``, with a byte order mark, an apostrophe before text that a spreadsheet would evaluate as
        /// a formula, and without the end of text that does not fit into a cell.
        case csvForSpreadsheets
        /// A folder with a Parquet file for each table.
        ///
        /// `creator` is the name and the version of the writing program, such as `pingferry version 1.0`.
        case parquet(creator: String)
        /// A timeline of the events in the format of Timesketch, without the other tables.
        ///
        /// Its lines are sorted in an unnamed file on the disk of `spoolFolder`.
        case timeline(any StreamSink, spoolFolder: String)
        /// A temporary database for a report.
        case report(ReportDatabase)
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
    private let systems: SystemTable
    private let sink: any TableSink
    private let rowJobs: any RowJobs
    private var batch = RecordBatch(firstNumber: 1)
    private var clients = ClientSummaries(isForExport: true)
    /// The sequence numbers of the records, or `nil` if the output does not contain gaps.
    private var sequences: SequenceIndex?
    /// The latest time of any record.
    private var newest: Timestamp?
    /// The latest time of a record with a plausible clock.
    private var newestPlausible: Timestamp?
    /// The number of rows of each table, keyed by name.
    private var rowCounts: [CapturedText: Int]
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
        self.systems = systems
        self.limit = limit
        let sink: any TableSink =
            switch format {
            case .sqlite: try SQLiteSink(path: path, replacing: replacing, tables: tables.all)
            case .csv: try CSVSink(path: path, replacing: replacing, tables: tables.all, style: .plain)
            case .csvForSpreadsheets:
                try CSVSink(path: path, replacing: replacing, tables: tables.all, style: .spreadsheet)
            case .parquet(let creator):
                try ParquetSink(path: path, replacing: replacing, tables: tables.all, creator: creator, limit: limit)
            case .timeline(let output, let spoolFolder):
                TimelineSink(output, tables: tables, spoolFolder: spoolFolder)
            case .report(let database): database
            }
        switch (format, coverage) {
        case (.timeline, _), (_, .segments): sequences = nil
        case (.sqlite, .complete), (.csv, .complete), (.csvForSpreadsheets, .complete), (.parquet, .complete),
            (.report, .complete):
            sequences = SequenceIndex(systems)
        }
        self.sink = sink
        rowJobs = makeRowJobs(for: sink, systems, limit)
        rowCounts = Dictionary(tables.all.map { (CapturedText($0.name), 0) }) { first, _ in first }
        otherRows = RowBuffer(sink.tables)
    }

    /// The identities of the output files, which must not be read as input.
    public var identities: Set<FileIdentity> { sink.identities }

    /// The number of rows that a timeline omits because they have no time.
    public var untimedRowCount: Int { sink.untimedRowCount }

    /// The number of cells whose text CSV for spreadsheets truncates, because it does not fit into a cell.
    public var truncatedCellCount: Int { sink.truncatedCellCount }

    /// The maximum length of text in CSV for spreadsheets, in code units of UTF-16.
    public static let maximumCellLength = SpreadsheetCell.maximumLength

    /// Adds a record.
    ///
    /// `line` is its canonical line, including the line feed. `payload` is the part of `line` with the payload.
    public mutating func add(_ record: RecordSummary, line: ArraySlice<UInt8>, payload: ArraySlice<UInt8>) {
        batch.add(record, line: line, payload: payload)
        if batch.isFull { closeBatch() }
    }

    /// Adds a row for a problem to the table `problems`.
    public mutating func add(_ problem: LocatedProblem) { add(problem, to: ExportTables.problems) }

    /// Adds a row for a quarantined item to the table `quarantine`.
    public mutating func add(_ item: QuarantineEntry) { add(item, to: ExportTables.quarantine) }

    /// Adds a row for a record that was dropped because another copy of it was kept.
    ///
    /// `keptNumber` is the number of the kept record, or `nil` if it is not exported.
    public mutating func add(_ copy: DroppedCopy, keptNumber: Int?) throws {
        add(try RepeatRow(copy, keptNumber: keptNumber), to: ExportTables.repeats)
        try writeFullBuffer()
    }

    /// Adds a row to the table `meta`.
    public mutating func add(meta key: String, _ value: String) { add((key, value), to: ExportTables.meta) }

    /// Adds stores and the states of their queues.
    public mutating func add(_ stores: some Sequence<ExportedStore>) throws {
        for store in stores {
            let number = add(store, to: ExportTables.stores)
            if let queue = store.queue { add((store, number, queue), to: ExportTables.queues) }
            try writeFullBuffer()
        }
    }

    /// Adds a row that does not belong to a record, and returns its number.
    @discardableResult
    private mutating func add<Row>(_ row: Row, to table: RowTable<Row>) -> Int {
        let number = rowCounts[table.table.name, default: 0] + 1
        rowCounts[table.table.name] = number
        otherRows.add(row, to: table, at: RowPlace(number: number))
        return number
    }

    private mutating func closeBatch() {
        let full = batch
        batch = RecordBatch(firstNumber: full.nextNumber)
        rowJobs.startJob(for: full)
    }

    /// Writes rows until the number of pending jobs is just enough to keep all cores busy.
    public mutating func writeFinishedRows() async throws {
        while rowJobs.pendingCount > 2 * limit.jobs { try await writeNextBatch() }
        try writeFullBuffer()
    }

    private mutating func writeNextBatch() async throws {
        guard let written = try await rowJobs.writeNextBatch() else { return }
        for (table, count) in zip(sink.tables, written.rowCounts) { rowCounts[table.name, default: 0] += count }
        for record in written.records {
            let client = clients.count(record.summary, eventCount: record.eventCount)
            sequences?.add(record.sequenceNumber, of: record.summary, client: client)
            noteTime(of: record.summary)
        }
    }

    /// Writes the rows of systems that belong to no record.
    private mutating func writeSharedRows() throws {
        try writeOtherRows()
        for format in systems.all.compactMap(\.rows) { format.addSharedRows(to: &otherRows) }
        for (table, count) in zip(sink.tables, otherRows.rowCounts) { rowCounts[table.name, default: 0] += count }
        try writeOtherRows()
    }

    private mutating func noteTime(of record: RecordSummary) {
        guard let time = record.time else { return }
        newest = max(newest ?? time, time)
        guard time > newestPlausible ?? Timestamp(clamping: 0), let system = systems[record.system],
            ClockState(of: time, earliest: system.earliestTime) == .plausible
        else { return }
        newestPlausible = time
    }

    private mutating func writeFullBuffer() throws {
        if otherRows.text.count > RecordBatch.sizeGoal { try writeOtherRows() }
    }

    private mutating func writeOtherRows() throws {
        try rowJobs.write(&otherRows)
        otherRows.removeAll()
    }

    /// Writes the remaining rows and makes the output visible.
    ///
    /// Returns the number of rows, keyed by table name.
    public mutating func finish() async throws -> [CapturedText: Int] {
        if !batch.entries.isEmpty { closeBatch() }
        while rowJobs.pendingCount > 0 { try await writeNextBatch() }
        try writeSharedRows()
        if let newest { add(meta: "newest", newest.description) }
        if let newestPlausible { add(meta: "newest_plausible", newestPlausible.description) }
        let clients = clients
        for number in clients.sortedNumbers {
            add((clients.summary(ofClient: number), clients.apps(ofClient: number)), to: ExportTables.clients)
            try writeFullBuffer()
        }
        try sequences.take()?.forEachSequence(of: clients.clients) { sequence in
            try sequence.forEachGap { row in
                add(row, to: ExportTables.gaps)
                try writeFullBuffer()
            }
        }
        for table in tables.all.sorted(by: { CapturedText($0.name) < CapturedText($1.name) }) {
            for column in table.columns.sorted(by: { CapturedText($0.name) < CapturedText($1.name) }) {
                add((table, column), to: ExportTables.columns)
            }
        }
        try writeOtherRows()
        try sink.commit()
        return rowCounts
    }
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

private func makeRowJobs(for sink: some TableSink, _ systems: SystemTable, _ limit: JobLimit) -> any RowJobs {
    SinkJobs(sink, systems, limit)
}

private final class SinkJobs<Sink: TableSink>: RowJobs {
    private struct Prepared: Sendable {
        let contents: Sink.Prepared
        let written: WrittenRows
    }

    private let sink: Sink
    private let builders: ValuePool<RowBuilder, any Error>
    private var tasks: OrderedTasks<Prepared>

    init(_ sink: Sink, _ systems: SystemTable, _ limit: JobLimit) {
        self.sink = sink
        let (tables, extraContents) = (sink.tables, sink.extraContents)
        builders = ValuePool { RowBuilder(tables, systems: systems, extraContents) }
        tasks = OrderedTasks(limit: limit)
    }

    var pendingCount: Int { tasks.count }

    func startJob(for batch: RecordBatch) {
        tasks.add { [builders, prepareRows = sink.prepareRows] in
            try builders.withPooledValue { builder in
                let records = try builder.buildRows(of: batch)
                let rowCounts = builder.rows.buffer.rowCounts
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
