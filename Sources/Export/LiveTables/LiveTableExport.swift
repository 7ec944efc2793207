import Bytes
import Files
import JSONText
import LiveTables
import Telemetry

/// An export of records as the rows that Mozilla's ingestion pipeline would write to its live tables.
///
/// The output is a folder with a file of rows and a schema file for each table. It becomes visible when it is complete.
/// Rows are built on all cores and written in the order of the records.
///
/// ```swift
/// var export = try LiveTableExport(
///     path: path, replacing: false, systems: Systems.table, schemas: try SchemaFolder(path: schemas),
///     limit: JobLimit(jobs: 2))
/// export.add(RecordSummary(record), line: line[...], payload: line[written.payload])
/// try await export.writeFinishedRows()
/// let counts = try await export.finish()
/// ```
///
/// Source: "BigQuery rows".
public struct LiveTableExport: ~Copyable {
    private let schemas: SchemaFolder
    private let limit: JobLimit
    private let builders: ValuePool<LiveRowBuilder, any Error>
    private var folder: AtomicFolder
    private var batch = RecordBatch(firstNumber: 1)
    private var tasks: OrderedTasks<LiveRows>
    private var counts = LiveTableCounts()
    /// The index of the file of each table with rows.
    private var files: [Int: Int] = [:]
    /// The index of the file about held records, or `nil` if they are omitted.
    private let heldFile: Int?

    /// The name of the file that lists held records.
    private static let heldFileName = "held.ndjson"
    private static let rowSuffix = ".ndjson"
    private static let schemaSuffix = ".schema.json"

    /// Creates the output.
    ///
    /// - Parameters:
    ///   - path: The path of the folder.
    ///   - replacing: Whether an existing output is replaced.
    ///   - systems: The known systems.
    ///   - schemas: The schemas of the tables.
    ///   - deliveries: The times of deliveries, or `nil` if they are unknown.
    ///   - writesHeldRecords: Whether held records are written like all others, and listed in a separate file.
    ///   - limit: The limit for the number of jobs.
    /// - Throws: `FileError` if the folder cannot be created.
    public init(
        path: String, replacing: Bool, systems: SystemTable, schemas: SchemaFolder, deliveries: DeliveryTimes? = nil,
        writesHeldRecords: Bool = false, limit: JobLimit
    ) throws(FileError) {
        folder = try AtomicFolder(
            path: path, files: writesHeldRecords ? [Self.heldFileName] : [], replacing: replacing,
            owning: Self.isFileName)
        heldFile = writesHeldRecords ? 0 : nil
        self.schemas = schemas
        self.limit = limit
        builders = ValuePool {
            LiveRowBuilder(systems, schemas, deliveries, writesHeldRecords: writesHeldRecords)
        }
        tasks = OrderedTasks(limit: limit)
    }

    /// Returns whether an output can contain a file with this name.
    private static func isFileName(_ name: String) -> Bool {
        if name == heldFileName || name == LoadInstructions.fileName { return true }
        guard
            let suffix = [schemaSuffix, rowSuffix].first(where: {
                name.utf8.reversed().starts(with: $0.utf8.reversed())
            })
        else { return false }
        let table = name.utf8.dropLast(suffix.utf8.count)
        // A table is named like `telemetry.core_v7`.
        return table.contains(UInt8(ascii: ".")) && Array(table).contains(text: "_v")
            && table.allSatisfy { $0.isDigit || $0.isLetter || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: ".") }
    }

    /// The identities of the output files so far and of the files that they replace, which must not be read as input.
    public var identities: Set<FileIdentity> { folder.identities }

    /// Adds a record.
    ///
    /// `line` is its canonical line, including the line feed. `payload` is the part of `line` with the payload.
    public mutating func add(_ record: RecordSummary, line: ArraySlice<UInt8>, payload: ArraySlice<UInt8>) {
        batch.add(record, line: line, payload: payload)
        if batch.isFull { closeBatch() }
    }

    private mutating func closeBatch() {
        let full = batch
        batch = RecordBatch(firstNumber: full.nextNumber)
        tasks.add { [builders] in try builders.withPooledValue { try $0.rows(of: full) } }
    }

    /// Writes rows until the number of pending jobs is just enough to keep all cores busy.
    public mutating func writeFinishedRows() async throws {
        while tasks.count > 2 * limit.jobs { try await writeNextBatch() }
    }

    private mutating func writeNextBatch() async throws {
        guard let rows = try await tasks.next() else { return }
        for (table, text) in rows.texts.sorted(by: { $0.key < $1.key }) {
            let file = try files[table] ?? addTable(table)
            try folder.write(text.span, to: file)
        }
        if let heldFile, !rows.held.isEmpty { try folder.write(rows.held.span, to: heldFile) }
        counts.add(rows.counts)
    }

    private mutating func addTable(_ table: Int) throws -> Int {
        let name = schemas.index.names[table]
        let schema = try schemas.contents(of: table)
        let file = try folder.addFile(name + Self.rowSuffix)
        try folder.addFile(name + Self.schemaSuffix, contents: schema)
        files[table] = file
        return file
    }

    /// Writes the remaining rows and makes the output visible.
    ///
    /// Returns the number of records in each class.
    public consuming func finish() async throws -> LiveTableCounts {
        if !batch.entries.isEmpty { closeBatch() }
        while tasks.count > 0 { try await writeNextBatch() }
        var tables: [(name: String, columns: TableColumns)] = []
        for table in files.keys.sorted() {
            tables.append((schemas.index.names[table], try schemas.columns(of: table)))
        }
        tables.sort { CapturedText($0.name) < CapturedText($1.name) }
        try folder.addFile(LoadInstructions.fileName, contents: Array(LoadInstructions.text(for: tables).utf8))
        let counts = counts
        try folder.commit()
        return counts
    }
}
