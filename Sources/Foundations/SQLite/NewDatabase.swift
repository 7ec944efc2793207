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
    /// - Throws: ``DatabaseError``.
    public init(path: String, threads: Int = 0) throws(DatabaseError) {
        connection = try SQLiteConnection(path: path, flags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)
        try run(
            """
            PRAGMA page_size = \(Self.pageSize); PRAGMA secure_delete = OFF; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;
            PRAGMA cache_size = -\(Self.cacheKibibytes); PRAGMA temp_store = FILE; PRAGMA threads = \(max(0, threads));
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

    /// Calls `body` with the first column of each row of a query without parameters.
    ///
    /// The bytes are valid only during the call.
    ///
    /// - Throws: ``DatabaseError``, or the error of `body`.
    public func forEachFirstColumn(of query: String, _ body: (RawSpan) throws -> Void) throws {
        let connection = try open()
        let statement = try connection.prepare(query, count: query.utf8.count)
        defer { sqlite3_finalize(statement) }
        while try connection.step(statement) { try DatabaseRow(statement).withBytes(of: 0, body) }
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
