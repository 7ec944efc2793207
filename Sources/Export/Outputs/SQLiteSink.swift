import Bytes
import Files
import JSONText
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
/// SQLite creates the empty database. The trees of its tables and indexes are written page by page, because SQLite would
/// take twice as long. Rows are converted to cells on all cores. The cells of indexes are sorted in files.
///
/// The file becomes visible when it is complete.
final class SQLiteSink: TableSink {
    /// The cells of rows.
    struct Rows: Sendable {
        /// The cells of each tree whose cells are not sorted.
        var cells: [TextBuffer]
        /// The cells of other trees, each with the index of the tree.
        var sorted: [(tree: Int, lines: RankedLines)] = []
    }

    private var file: AtomicOutput?
    let tables: [Table]
    private var trees: [TreeWriter]
    /// The sorters of the cells of each tree.
    private var sorters: [LineSorter]
    /// The numbers of the root pages of the trees.
    private let roots: [Int]
    private var pages: NewPages
    private let spareCells: ValuePool<[TextBuffer], Never>
    private var unsyncedByteCount = 0
    let prepareRows: @Sendable (inout RowBuffer) -> Rows
    let identities: Set<FileIdentity>

    /// The maximum size, in bytes, of the cells of an index that are sorted in memory.
    private static let sortingSize = 4 << 20
    /// The number of unsynced bytes at which writing to disk starts.
    private static let syncThreshold = 32 << 20

    /// Creates a database with empty tables.
    init(path: String, replacing: Bool, tables: [Table]) throws(FileError) {
        let file = try AtomicOutput(path: path, replacing: replacing)
        do {
            let database = try NewDatabase(path: file.partialPath)
            try database.run("PRAGMA user_version = \(ExportTables.schemaVersion)")
            let views = ExportTables.views.map { SchemaText.createStatement(for: $0, in: SQLiteDialect.self) }
            for statement in tables.map(SchemaText.createStatement) + tables.flatMap(SchemaText.createIndexStatements)
                + views
            {
                try database.run(statement)
            }
            roots = try database.integers(of: "SELECT rootpage FROM sqlite_schema WHERE rootpage > 0 ORDER BY rowid")
            pages = NewPages(after: try database.integers(of: "PRAGMA page_count")[0])
            try database.finish()
        } catch {
            throw FileError(error, .write, path, doing: "write \(path)")
        }
        let trees = SQLiteTree.trees(of: tables)
        let spareLines = ValuePool<_, Never>(keeping: trees.count) { RankedLines() }
        let spareCells = ValuePool<_, Never>(keeping: Self.maxSpareCount) { trees.map { _ in TextBuffer() } }
        prepareRows = { rows in
            var prepared = Rows(cells: spareCells.take())
            for (index, tree) in trees.enumerated() {
                prepared.cells[index].removeAll()
                if tree.isSorted {
                    var lines = spareLines.take()
                    lines.removeAll()
                    tree.appendSortedCells(of: rows, to: &lines)
                    prepared.sorted.append((index, lines))
                } else {
                    tree.appendCells(of: rows, to: &prepared.cells[index])
                }
            }
            return prepared
        }
        self.tables = tables
        self.spareCells = spareCells
        self.trees = trees.map { TreeWriter($0.kind) }
        sorters = trees.map { _ in
            LineSorter(folder: Path.folder(of: path), memoryLimit: Self.sortingSize) { lines in
                if lines.text.capacity <= Self.maxSpareSize { spareLines.recycle(lines) }
            }
        }
        identities = file.identities
        self.file = consume file
    }

    func write(_ prepared: borrowing Rows) throws {
        for index in trees.indices where prepared.cells[index].count > 0 {
            let cells = prepared.cells[index]
            try add(cells: cells.span, toTreeAt: index)
        }
        for (index, lines) in prepared.sorted { try sorters[index].add(lines) }
    }

    func recycle(_ prepared: Rows) {
        if prepared.cells.allSatisfy({ $0.capacity <= Self.maxSpareSize }) { spareCells.recycle(prepared.cells) }
    }

    private func add(cells: Span<UInt8>, toTreeAt index: Int) throws {
        trees[index].add(cells: cells, to: &pages)
        try writePages()
    }

    private func writePages() throws {
        do {
            let bytes = pages.bytes
            try write(bytes.span, at: pages.offset)
        }
        pages.removeAll()
    }

    /// Writes bytes to the file, and starts writing them to disk in the background after some time.
    private func write(_ bytes: Span<UInt8>, at offset: Int) throws {
        switch file {
        case .some(let file):
            try file.write(bytes, at: offset)
            unsyncedByteCount += bytes.count
            guard unsyncedByteCount >= Self.syncThreshold else { return }
            unsyncedByteCount = 0
            file.beginSync()
        case .none: break
        }
    }

    func commit() throws {
        for index in trees.indices {
            try sorters[index].finish { try add(cells: $0, toTreeAt: index) }
            let root = trees[index].finish(&pages)
            try writePages()
            try write(root.span, at: (roots[index] - 1) * NewPages.pageSize)
        }
        let header = pages.header
        try write(header.span, at: NewPages.headerOffset)
        try file.take()?.commit()
    }
}

extension NewDatabase {
    /// Returns the integers in the first column of a query.
    fileprivate func integers(of query: String) throws -> [Int] {
        var integers: [Int] = []
        try forEachRow(of: query) { integers.append(Int($0[0] as Int64)) }
        return integers
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
        let columns = table.columns.enumerated().map { index, column in
            // If a single integer column is the key, SQLite uses it as the rowid.
            if index == table.rowIDColumn { return "\(quoted(column.name)) INTEGER PRIMARY KEY\(referenceClause(column))" }
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
