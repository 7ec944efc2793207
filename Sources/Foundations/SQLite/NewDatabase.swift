import CSQLite

/// A new database that is filled in one transaction, without a journal and without waiting for the disk.
///
/// If an error occurs, the file is unusable. Therefore, nothing else may use the file before ``finish()`` has returned.
///
/// ```swift
/// let database = try NewDatabase(path: partial)
/// try database.run("CREATE TABLE events (name TEXT)")
/// let insertion = try database.insertion(into: "events", columns: 1)
/// try insertion.add(rows: 1, text: "foreground".utf8.span) { _ in .text(start: 0, count: 10) }
/// try database.finish()
/// ```
///
/// Source: SQLite, "Pragma statements supported by SQLite".
public final class NewDatabase {
    /// The connection, or `nil` once it is closed.
    private var connection: SQLiteConnection?

    /// The size of the page cache, in KiB.
    private static let cacheKibibytes = 8 << 10
    /// The size of a page in bytes, which is large so that sequential writing is faster.
    private static let pageSize = 32 << 10

    /// Creates a database and begins the transaction.
    ///
    /// - Parameters:
    ///   - path: The path of an empty or missing file. If the path is empty, SQLite uses a temporary file and deletes
    ///     it.
    ///   - threads: The maximum number of additional threads for sorting.
    ///   - maximumSize: The maximum size of the database in bytes.
    /// - Throws: ``DatabaseError``.
    public init(path: String, threads: Int = 0, maximumSize: Int = .max) throws(DatabaseError) {
        connection = try SQLiteConnection(path: path, flags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)
        try run(
            """
            PRAGMA page_size = \(Self.pageSize); PRAGMA secure_delete = OFF; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;
            PRAGMA cache_size = -\(Self.cacheKibibytes); PRAGMA temp_store = FILE; PRAGMA threads = \(max(0, threads));
            PRAGMA max_page_count = \(min(max(1, maximumSize / Self.pageSize), Int(UInt32.max) - 1));
            BEGIN
            """)
    }

    deinit { connection?.close() }

    /// Runs statements without parameters, separated by semicolons.
    public func run(_ script: String) throws(DatabaseError) { try open().run(script) }

    /// Prepares the insertion of rows into a table.
    ///
    /// - Parameters:
    ///   - table: The name of the table as an SQL identifier.
    ///   - columns: The number of columns.
    /// - Returns: The prepared insertion.
    /// - Throws: ``DatabaseError``.
    public func insertion(into table: String, columns: Int) throws(DatabaseError) -> RowInsertion {
        try RowInsertion(into: table, columns: columns, of: self)
    }

    /// Calls `body` with each row of a query without parameters.
    ///
    /// A row is valid only during the call.
    ///
    /// - Throws: ``DatabaseError``, or the error of `body`.
    public func forEachRow(of query: String, _ body: (borrowing DatabaseRow) throws -> Void) throws {
        let rows = try rows(of: query)
        while try rows.next() { try body(rows.row) }
    }

    /// Returns the rows of a query without parameters.
    ///
    /// - Throws: ``DatabaseError``.
    public func rows(of query: String) throws(DatabaseError) -> RowCursor {
        let connection = try open()
        return RowCursor(try connection.prepare(query, count: query.utf8.count), of: self)
    }

    /// Commits the transaction and closes the file.
    ///
    /// The file is then complete, but its contents need not be on disk yet.
    public func finish() throws(DatabaseError) {
        let connection = try open()
        try connection.run("COMMIT")
        self.connection = nil
        let code = connection.close()
        guard code == SQLITE_OK else { throw DatabaseError(code: code) }
    }

    /// Returns the connection, or throws an error if the database is finished.
    func open() throws(DatabaseError) -> SQLiteConnection {
        guard let connection else { throw DatabaseError(code: SQLITE_MISUSE) }
        return connection
    }
}

/// The rows of a query, which are read one after another.
///
/// The rows must be read before the database is finished.
public struct RowCursor: ~Copyable {
    private let statement: OpaquePointer
    /// The database, which must not be closed before the statement is finalized.
    private let database: NewDatabase

    fileprivate init(_ statement: OpaquePointer, of database: NewDatabase) {
        self.statement = statement
        self.database = database
    }

    deinit {
        // A finished database has already finalized the statement.
        if (try? database.open()) != nil { sqlite3_finalize(statement) }
    }

    /// Advances to the next row, and returns whether there is one.
    ///
    /// - Throws: ``DatabaseError``.
    public func next() throws(DatabaseError) -> Bool { try database.open().step(statement) }

    /// The current row, which is valid until the next call of ``next()``.
    public var row: DatabaseRow { DatabaseRow(statement: statement) }
}

/// A prepared insertion of rows into a table of a ``NewDatabase``.
///
/// Rows cannot be added after the database is finished.
public final class RowInsertion {
    /// A value for a column.
    public enum Value {
        /// NULL.
        case null
        /// An integer.
        case integer(Int64)
        /// A binary floating-point number.
        case real(Double)
        /// The `count` bytes of UTF-8 at the index `start` of a buffer that contains the texts of all values.
        case text(start: Int, count: Int)
    }

    private let columnCount: Int
    private let database: NewDatabase
    /// The number of rows that one statement inserts.
    ///
    /// Inserting several rows per statement is faster, because SQLite looks up the end of the table once for each
    /// statement.
    private static let rowsPerStep = 64
    /// The statement that inserts ``rowsPerStep`` rows.
    ///
    /// The database finalizes this statement and ``singleRowStatement`` when it is closed.
    private let multiRowStatement: OpaquePointer
    /// The statement that inserts one row.
    private let singleRowStatement: OpaquePointer

    init(into table: String, columns: Int, of database: NewDatabase) throws(DatabaseError) {
        let connection = try database.open()
        func statement(rows: Int) throws(DatabaseError) -> OpaquePointer {
            let row = "(" + Array(repeating: "?", count: columns).joined(separator: ",") + ")"
            let sql = "INSERT INTO \(table) VALUES " + Array(repeating: row, count: rows).joined(separator: ",")
            return try connection.prepare(sql, count: sql.utf8.count)
        }
        multiRowStatement = try statement(rows: Self.rowsPerStep)
        singleRowStatement = try statement(rows: 1)
        columnCount = columns
        self.database = database
    }

    /// Adds `count` rows to the table.
    ///
    /// After an error, the database is unusable.
    ///
    /// - Parameters:
    ///   - count: The number of rows.
    ///   - text: The buffer that contains the texts of all values.
    ///   - value: Returns the value with the given index. The values are numbered row by row.
    /// - Throws: ``DatabaseError``, for example if the database is finished.
    public func add(rows count: Int, text: Span<UInt8>, _ value: (Int) -> Value) throws(DatabaseError) {
        let connection = try database.open()
        let code: Int32 = text.withUnsafeBufferPointer { text in
            text.withMemoryRebound(to: CChar.self) { text -> Int32 in
                var row = 0
                while row < count {
                    let isFullStep = count - row >= Self.rowsPerStep
                    let rows = isFullStep ? Self.rowsPerStep : 1
                    let statement = isFullStep ? multiRowStatement : singleRowStatement
                    for column in 0..<rows * columnCount {
                        let next = value(row * columnCount + column)
                        let code = Self.bind(next, to: Int32(column + 1), of: statement, text)
                        guard code == SQLITE_OK else { return code }
                    }
                    let code = sqlite3_step(statement)
                    sqlite3_reset(statement)
                    guard code == SQLITE_DONE else { return code }
                    row += rows
                }
                return SQLITE_OK
            }
        }
        guard code == SQLITE_OK else { throw DatabaseError(connection.handle, code: code) }
    }

    /// Binds `value` to the parameter with the index `parameter`.
    ///
    /// A text is not copied, because its bytes stay valid until the statement has run.
    private static func bind(
        _ value: Value, to parameter: Int32, of statement: OpaquePointer?, _ text: UnsafeBufferPointer<CChar>
    ) -> Int32 {
        switch value {
        case .null: return sqlite3_bind_null(statement, parameter)
        case .integer(let number): return sqlite3_bind_int64(statement, parameter, number)
        case .real(let number): return sqlite3_bind_double(statement, parameter, number)
        case .text(let start, let count):
            precondition(start >= 0 && count >= 0 && count <= text.count - start, "the text exceeds the buffer")
            let bytes = text.baseAddress.map { $0 + start } ?? DatabaseParameter.emptyText
            return sqlite3_bind_text64(statement, parameter, bytes, UInt64(count), nil, UInt8(SQLITE_UTF8))
        }
    }
}
