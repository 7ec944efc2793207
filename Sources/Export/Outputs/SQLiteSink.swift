import Files
import Glibc
import SQLite
import Telemetry

/// A sink that writes tables to an SQLite database.
///
/// The file becomes visible when it is complete.
final class SQLiteSink: TableSink {
    private var file: AtomicOutput?
    private let path: String
    private let tables: [Table]
    private let database: NewDatabase
    private let insertions: [RowInsertion]
    private var unsyncedByteCount = 0
    private let pool: RowBufferPool
    /// A function that moves the rows out of a buffer.
    ///
    /// The rows are not converted, because SQLite reads the strings directly from the buffer.
    let prepareRows: @Sendable (inout RowBuffer) -> RowBuffer
    let identities: Set<FileIdentity>

    /// Creates a database with empty tables.
    ///
    /// At most `threads` threads are used to create its indexes.
    init(path: String, replacing: Bool, tables: [Table], threads: Int) throws(FileError) {
        let file = try AtomicOutput(path: path, replacing: replacing)
        identities = file.identities
        self.path = path
        self.tables = tables
        let pool = RowBufferPool(tables, for: Self.self)
        self.pool = pool
        prepareRows = { pool.exchange(&$0) }
        do {
            let database = try NewDatabase(path: file.partialPath, threads: threads)
            try database.run("PRAGMA user_version = \(ExportTables.schemaVersion)")
            for table in tables { try database.run(SchemaText.createStatement(for: table)) }
            insertions = try tables.map { table in
                try database.insertion(into: SchemaText.quoted(table.name), columns: table.columns.count)
            }
            self.database = database
        } catch {
            throw FileError(error, writing: path)
        }
        self.file = consume file
    }

    func write(_ rows: borrowing RowBuffer) throws {
        let text = rows.text[0..<rows.text.count]
        do {
            for (tableIndex, table) in tables.enumerated() where !rows.cells[tableIndex].isEmpty {
                let cells = rows.cells[tableIndex]
                let rowCount = rows.rowCount(ofTableAt: tableIndex, table)
                try insertions[tableIndex].add(rows: rowCount, text: text.span) { index in
                    switch cells[index] {
                    case .null: .null
                    case .integer(let number): .integer(number)
                    case .text(let start, let count): .text(start: start, count: Int(count))
                    case .real(let start, let count): Self.realValue(of: text[start..<start + Int(count)])
                    }
                }
            }
        } catch {
            throw FileError(error, writing: path)
        }
        unsyncedByteCount += rows.text.count
        if unsyncedByteCount >= Self.syncThreshold { beginSync() }
    }

    func recycle(_ rows: RowBuffer) { pool.recycle(rows) }

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

    /// Returns the floating-point value of a string, or NULL if the value is not finite.
    private static func realValue(of text: ArraySlice<UInt8>) -> RowInsertion.Value {
        guard let number = Double(String(decoding: text, as: UTF8.self)), number.isFinite else { return .null }
        return .real(number)
    }

    func commit() throws {
        do {
            for index in tables.flatMap(SchemaText.createIndexStatements) {
                try database.run(index)
                beginSync()
            }
            for view in ExportTables.views { try database.run(SchemaText.createStatement(for: view)) }
            try database.finish()
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

/// The SQL statements for the tables, indexes and views of an SQLite database.
///
/// Source: "Exports", section 1; SQLite, "CREATE TABLE", "STRICT Tables", "The WITHOUT ROWID Optimization".
enum SchemaText {
    fileprivate static func createStatement(for table: Table) -> String {
        let columns = table.columns.map { column in
            let isRowID = table.key == [column.name] && sqlType(of: column) == "INTEGER"
            // If a single integer column is the key, SQLite uses it as the rowid.
            if isRowID { return "\(quoted(column.name)) INTEGER PRIMARY KEY\(referenceClause(column, table))" }
            return
                "\(quoted(column.name)) \(sqlType(of: column))\(column.isRequired ? " NOT NULL" : "")\(referenceClause(column, table))"
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

    fileprivate static func createStatement(for view: TableView) -> String {
        "CREATE VIEW \(quoted(view.name)) (\(columnList(view.columns))) AS \(view.query)"
    }

    /// Returns `name` as a quoted SQL identifier.
    ///
    /// All names are quoted, because some columns have the names of SQL keywords.
    static func quoted(_ name: String) -> String { "\"\(name)\"" }

    static func sqlType(of column: TableColumn) -> String {
        switch column.kind {
        case .integer, .flag: "INTEGER"
        case .real: "REAL"
        case .text, .time, .json: "TEXT"
        }
    }

    private static func referenceClause(_ column: TableColumn, _ table: Table) -> String {
        table.belongsToRecords && column.name == TableColumn.record.name ? " REFERENCES records (record)" : ""
    }

    private static func columnList(_ names: [String]) -> String { names.map(quoted).joined(separator: ", ") }
}

extension FileError {
    /// Creates a file error from a database error.
    ///
    /// `action` completes the message "cannot …".
    init(_ error: any Error, _ operation: Operation, _ path: String, doing action: String) {
        if case .diskFull? = (error as? DatabaseError)?.kind {
            self.init(operation, path, code: ENOSPC)
        } else {
            self.init(operation, path, code: EIO, message: "cannot \(action): \(error)")
        }
    }
}
