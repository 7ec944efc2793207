import Bundle
import Files
import Parallel
import Telemetry

/// Exports records, problems and quarantined input as tables.
///
/// Rows are built on all cores and written in order.
///
/// ```swift
/// var export = try TableExport(
///     .csv, path: path, replacing: false, systems: Systems.table, limit: JobLimit(jobs: 2))
/// export.add(RecordSummary(record), line: line[...], payload: line[written.payload])
/// try await export.writeFinished()
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
        /// A timeline of the events in the format of Timesketch, without the other tables.
        case timeline(any StreamSink)
        /// Counts for a report.
        case report(ReportCounter)
    }

    private let tables: ExportTables
    private let sink: any TableSink
    private let jobs: any RowJobs
    private var lines = RecordBatch(first: 1)
    private var clients = ClientSummaries()
    private var counts: [Int]
    /// The rows that do not belong to records and have not been written yet.
    private var others: RowBuffer
    private let limit: JobLimit

    /// Creates the output.
    ///
    /// It becomes visible when ``finish()`` is called.
    ///
    /// `path` is ignored if the format is a timeline or a report.
    public init(
        _ format: Format, path: String, replacing: Bool, systems: SystemTable, limit: JobLimit
    ) throws(FileError) {
        let tables = ExportTables(systems)
        self.tables = tables
        self.limit = limit
        let sink: any TableSink =
            switch format {
            case .sqlite: try SQLiteSink(path: path, replacing: replacing, tables: tables.all, threads: limit.jobs)
            case .csv: try CSVSink(path: path, replacing: replacing, tables: tables.all)
            case .timeline(let output): try TimelineSink(output, threads: limit.jobs)
            case .report(let counter): counter
            }
        self.sink = sink
        jobs = rowJobs(for: sink, tables, systems, limit)
        counts = Array(repeating: 0, count: tables.all.count)
        others = RowBuffer(tables.all)
    }

    /// The identities of the output files, which must not be read as input.
    public var identities: Set<FileIdentity> { sink.identities }

    /// The number of rows that a timeline omits because they have no time.
    public var rowsWithoutTime: Int { sink.rowsWithoutTime }

    /// Adds a record.
    ///
    /// `line` is its canonical line, including the line feed. `payload` is the part of `line` with the payload.
    public mutating func add(_ record: RecordSummary, line: ArraySlice<UInt8>, payload: ArraySlice<UInt8>) {
        lines.add(record, line: line, payload: payload)
        if lines.isFull { closeLines() }
    }

    /// Adds a problem.
    public mutating func add(_ problem: LocatedProblem) {
        add(to: ExportTables.problems) { buffer in
            [
                buffer.keep(problem.capture), buffer.keep(problem.path), Self.cell(problem.problem.offset),
                buffer.keep(problem.problem.code), buffer.keep(problem.problem.text),
            ]
        }
    }

    /// Adds a quarantined item.
    public mutating func add(_ item: QuarantineEntry) {
        add(to: ExportTables.quarantine) { buffer in
            [
                buffer.keep(item.capture), buffer.keep(item.path), Self.cell(item.reject.offset),
                Self.cell(item.reject.length), buffer.keep(item.sha256),
                buffer.keep(String(item.reject.reason.prefix { $0 != " " })), buffer.keep(item.reject.reason),
                .flag(item.isStored), .integer(Int64(item.size)),
            ]
        }
    }

    /// Adds a row to the table `meta`.
    public mutating func add(meta key: String, _ value: String) {
        let place = tables.index(of: ExportTables.meta)
        others.add([others.keep(key), others.keep(value)], to: place)
    }

    /// Adds a row.
    ///
    /// Its first cell is the number of the row.
    private mutating func add(to table: Table, _ cells: (inout RowBuffer) -> [Cell]) {
        let place = tables.index(of: table)
        let row = cells(&others)
        let number = counts[place] + others.rowCount(of: place, table) + 1
        others.add([.integer(Int64(number))] + row, to: place)
    }

    private static func cell(_ number: Int?) -> Cell { number.map { .integer(Int64($0)) } ?? .null }

    private mutating func closeLines() {
        let full = lines
        lines = RecordBatch(first: full.next)
        jobs.make(full)
    }

    /// Writes rows until the number of pending jobs is just enough to keep all cores busy.
    public mutating func writeFinished() async throws {
        while jobs.pending > 2 * limit.jobs { try await writeNext() }
        if others.text.count > RecordBatch.sizeGoal { try writeOthers() }
    }

    private mutating func writeNext() async throws {
        guard let written = try await jobs.writeNext() else { return }
        for (place, count) in written.counts.enumerated() { counts[place] += count }
        for (summary, events) in zip(written.summaries, written.events) { clients.count(summary, events: events) }
    }

    private mutating func writeOthers() throws {
        for (place, table) in tables.all.enumerated() { counts[place] += others.rowCount(of: place, table) }
        try jobs.write(&others)
        others.removeAll()
    }

    /// Writes the remaining rows and makes the output visible.
    ///
    /// Returns the number of rows, keyed by table name.
    public mutating func finish() async throws -> [String: Int] {
        if !lines.entries.isEmpty { closeLines() }
        while jobs.pending > 0 { try await writeNext() }
        try writeClients()
        addColumns()
        try writeOthers()
        try sink.commit()
        return Dictionary(uniqueKeysWithValues: zip(tables.all.map(\.name), counts))
    }

    /// Adds the data dictionary, which describes each column, in key order.
    private mutating func addColumns() {
        let place = tables.index(of: ExportTables.columns)
        for table in tables.all.sorted(by: { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }) {
            for column in table.columns.sorted(by: { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }) {
                others.add(
                    [
                        others.keep(table.name), others.keep(column.name), others.keep(column.typeDescription),
                        others.keep(column.meaning),
                    ], to: place)
            }
        }
    }

    private mutating func writeClients() throws {
        let clients = clients
        for client in clients.sorted {
            add(to: ExportTables.clients) { buffer in
                let apps = client.apps.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
                return [
                    buffer.keep(client.system), buffer.keep(client.client),
                    buffer.keep(apps.isEmpty ? nil : apps.joined(separator: ", ")), .integer(Int64(client.records)),
                    .integer(Int64(client.uploadable)), .integer(Int64(client.events)),
                    client.first.map { buffer.keep($0) } ?? .null, client.last.map { buffer.keep($0) } ?? .null,
                ]
            }
            if others.text.count > RecordBatch.sizeGoal { try writeOthers() }
        }
    }
}

extension RowBuffer {
    /// Returns the number of rows of the table at index `place`.
    func rowCount(of place: Int, _ table: Table) -> Int { cells[place].count / table.columns.count }
}

// MARK: - Jobs

/// The number of rows and events of a batch that has been written.
struct WrittenRows: Sendable {
    /// The number of rows of each table.
    let counts: [Int]
    let summaries: [RecordSummary]
    /// The number of events of each record.
    let events: [Int]
}

/// A queue of jobs that build rows for a sink.
private protocol RowJobs: AnyObject {
    /// The number of jobs whose rows have not been written.
    var pending: Int { get }
    /// Starts a job that builds the rows of a batch.
    func make(_ lines: RecordBatch)
    /// Writes the rows of the oldest job, or returns `nil` if there is none.
    func writeNext() async throws -> WrittenRows?
    /// Writes rows that were not built by a job. Afterwards, the contents of the buffer are unspecified.
    func write(_ rows: inout RowBuffer) throws
}

private func rowJobs(
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
        builders = ValuePool { RowBuilder(tables, systems: systems) }
        tasks = OrderedTasks(limit: limit)
    }

    var pending: Int { tasks.count }

    func make(_ lines: RecordBatch) {
        tasks.add { [builders, tables, prepare = sink.prepare] in
            try builders.withPooledValue { builder in
                let events = try builder.make(lines)
                let counts = tables.indices.map { builder.rows.buffer.rowCount(of: $0, tables[$0]) }
                return Prepared(
                    contents: prepare(&builder.rows.buffer),
                    written: WrittenRows(counts: counts, summaries: lines.entries.map(\.summary), events: events))
            }
        }
    }

    func writeNext() async throws -> WrittenRows? {
        guard let next = try await tasks.next() else { return nil }
        try sink.write(next.contents)
        sink.recycle(next.contents)
        return next.written
    }

    func write(_ rows: inout RowBuffer) throws {
        let prepared = sink.prepare(&rows)
        try sink.write(prepared)
        sink.recycle(prepared)
    }
}
