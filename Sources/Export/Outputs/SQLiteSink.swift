import Files
import SQLite
import Telemetry

/// Tables in an SQLite database, which are filled from buffers of rows.
struct TableDatabase {
    let database: NewDatabase
    let tables: [Table]
    private let insertions: [RowInsertion]
    private let pool: RowBufferPool
    /// A function that moves the rows out of a buffer.
    ///
    /// The rows are not converted, because SQLite reads the strings directly from the buffer.
    let prepareRows: @Sendable (inout RowBuffer) -> RowBuffer

    /// Creates empty tables in `database`.
    init(_ database: NewDatabase, _ tables: [Table], for sink: (some TableSink).Type) throws(DatabaseError) {
        self.database = database
        self.tables = tables
        for table in tables { try database.run(SchemaText.createStatement(for: table)) }
        insertions = try tables.map { (table) throws(DatabaseError) in
            try database.insertion(into: SchemaText.quoted(table.name), columns: table.columns.count)
        }
        let pool = RowBufferPool(tables, for: sink)
        self.pool = pool
        prepareRows = { pool.exchange(&$0) }
    }

    func write(_ rows: borrowing RowBuffer) throws(DatabaseError) {
        let text = rows.text[0..<rows.text.count]
        for (table, count) in rows.rowCounts.enumerated() where count > 0 {
            let cells = rows.cells[table]
            try insertions[table].add(rows: count, text: text.span) { index in
                switch cells[index] {
                case .null: .null
                case .integer(let number): .integer(number)
                case .text(let start, let count): .text(start: start, count: Int(count))
                case .real(let start, let count): Self.realValue(of: text[start..<start + Int(count)])
                }
            }
        }
    }

    func recycle(_ rows: RowBuffer) { pool.recycle(rows) }

    /// Returns the floating-point value of a string, or NULL if the value is not finite.
    private static func realValue(of text: ArraySlice<UInt8>) -> RowInsertion.Value {
        guard let number = Double(String(decoding: text, as: UTF8.self)), number.isFinite else { return .null }
        return .real(number)
    }
}

/// A sink that writes tables to an SQLite database.
///
/// The file becomes visible when it is complete.
final class SQLiteSink: TableSink {
    private var file: AtomicOutput?
    private let path: String
    private let rows: TableDatabase
    private var unsyncedByteCount = 0
    let identities: Set<FileIdentity>

    /// Creates a database with empty tables.
    init(path: String, replacing: Bool, tables: [Table]) throws(FileError) {
        let file = try AtomicOutput(path: path, replacing: replacing)
        identities = file.identities
        self.path = path
        do {
            let database = try NewDatabase(path: file.partialPath)
            try database.run("PRAGMA user_version = \(ExportTables.schemaVersion)")
            rows = try TableDatabase(database, tables, for: Self.self)
        } catch {
            throw FileError(error, writing: path)
        }
        self.file = consume file
    }

    var prepareRows: @Sendable (inout RowBuffer) -> RowBuffer { rows.prepareRows }

    var tables: [Table] { rows.tables }

    func write(_ prepared: borrowing RowBuffer) throws {
        do { try rows.write(prepared) } catch { throw FileError(error, writing: path) }
        unsyncedByteCount += prepared.text.count
        if unsyncedByteCount >= Self.syncThreshold { beginSync() }
    }

    func recycle(_ prepared: RowBuffer) { rows.recycle(prepared) }

    /// Starts writing the file to disk in the background.
    private func beginSync() {
        unsyncedByteCount = 0
        switch file {
        case .some(let file): file.beginSync()
        case .none: break
        }
    }

    /// The number of unsynced bytes at which writing to disk starts.
    private static let syncThreshold = 32 << 20

    func commit() throws {
        do {
            for index in tables.flatMap(SchemaText.createIndexStatements) {
                try rows.database.run(index)
                beginSync()
            }
            for view in ExportTables.views {
                try rows.database.run(SchemaText.createStatement(for: view, in: SQLiteDialect.self))
            }
            try rows.database.finish()
        } catch {
            throw FileError(error, writing: path)
        }
        try file.take()?.commit()
    }
}

extension FileError {
    fileprivate init(_ error: any Error, writing path: String) {
        self.init(error, .write, path, doing: "write \(path)")
    }
}

private enum SQLiteDialect: SQLDialect {
    static func monday(ofDay column: String) -> String { "date(\(column), 'weekday 0', '-6 days')" }

    static func weeks(from start: String, to end: String) -> String {
        "CAST((julianday(\(end)) - julianday(\(start))) / 7 AS INTEGER)"
    }
}

/// The SQL statements for the tables, indexes and views of an SQLite database.
///
/// Source: "Exports", section 1; SQLite, "CREATE TABLE", "STRICT Tables", "The WITHOUT ROWID Optimization".
enum SchemaText {
    fileprivate static func createStatement(for table: Table) -> String {
        let columns = table.columns.map { column in
            let isRowID = table.key == [column.name] && sqlType(of: column) == "INTEGER"
            // If a single integer column is the key, SQLite uses it as the rowid.
            if isRowID { return "\(quoted(column.name)) INTEGER PRIMARY KEY\(referenceClause(column))" }
            return
                "\(quoted(column.name)) \(sqlType(of: column))\(column.isRequired ? " NOT NULL" : "")\(referenceClause(column))"
        }
        let hasRowIDKey = columns.contains { $0.contains(" PRIMARY KEY") }
        let key = hasRowIDKey ? [] : ["PRIMARY KEY (\(columnList(table.key)))"]
        let kind = hasRowIDKey ? "STRICT" : "STRICT, WITHOUT ROWID"
        return "CREATE TABLE \(quoted(table.name)) (\((columns + key).joined(separator: ", "))) \(kind)"
    }

    fileprivate static func createIndexStatements(for table: Table) -> [String] {
        table.indexes.map { columns in
            let name = quoted(([table.name] + columns).joined(separator: "_"))
            return "CREATE INDEX \(name) ON \(quoted(table.name)) (\(columnList(columns)))"
        }
    }

    /// Returns the statement that creates `view`, without a semicolon.
    static func createStatement(for view: TableView, in dialect: SQLDialect.Type) -> String {
        "CREATE VIEW \(quoted(view.name)) (\(columnList(view.columns))) AS \(view.query(dialect))"
    }

    /// Returns `name` as a quoted SQL identifier.
    ///
    /// All names are quoted, because some columns have the names of SQL keywords.
    static func quoted(_ name: String) -> String { "\"\(name)\"" }

    /// Returns `text` as an SQL string.
    static func literal(_ text: String) -> String { "'\(text.replacing("'", with: "''"))'" }

    static func sqlType(of column: TableColumn) -> String {
        switch column.kind {
        case .integer, .flag: "INTEGER"
        case .real: "REAL"
        case .text, .time, .json: "TEXT"
        }
    }

    private static func referenceClause(_ column: TableColumn) -> String {
        column.refersToRecord ? " REFERENCES records (record)" : ""
    }

    private static func columnList(_ names: [String]) -> String { names.map(quoted).joined(separator: ", ") }
}
