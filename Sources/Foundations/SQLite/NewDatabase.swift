import CSQLite

/// A database that is filled from nothing, as fast as SQLite can: without a journal, without waiting for the disk, in one
/// transaction. If that fails the file is of no use, so it has to be one that nobody knows yet.
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

    /// How much of the file SQLite keeps in memory, in KiB; what is more goes to the file.
    private static let cacheSize = 8 << 10
    /// The size of a page: large ones cost less to fill one after another.
    private static let pageSize = 32 << 10

    /// Opens a file and begins the transaction.
    /// - Parameters:
    ///   - path: an empty file, or none; an empty path is a private file that is gone at the end.
    ///   - threads: how many threads may help to sort.
    public init(path: String, threads: Int = 0) throws(DatabaseError) {
        connection = try SQLiteConnection(path: path, flags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)
        try run(
            """
            PRAGMA page_size = \(Self.pageSize); PRAGMA secure_delete = OFF; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;
            PRAGMA cache_size = -\(Self.cacheSize); PRAGMA temp_store = FILE; PRAGMA threads = \(max(0, threads));
            BEGIN
            """)
    }

    deinit { connection?.close() }

    /// Runs statements that have no parameters and give no rows.
    /// - Parameter script: the statements, with semicolons between them.
    public func run(_ script: String) throws(DatabaseError) { try open().run(script) }

    /// Prepares the adding of rows to a table.
    /// - Parameters:
    ///   - table: its name, as it stands in the program.
    ///   - columns: how many columns a row has.
    public func insertion(into table: String, columns: Int) throws(DatabaseError) -> RowInsertion {
        try RowInsertion(into: table, columns: columns, of: self)
    }

    /// Gives the bytes of the first column of each row of a query.
    /// - Parameter body: takes the bytes, which are gone when it returns.
    /// - Throws: ``DatabaseError``, and what `body` throws.
    public func bytes(_ query: String, _ body: (RawSpan) throws -> Void) throws {
        let connection = try open()
        let statement = try connection.prepare(query, count: query.utf8.count)
        defer { sqlite3_finalize(statement) }
        while try connection.step(statement) { try DatabaseRow(statement).withBytes(of: 0, body) }
    }

    /// Ends the transaction and closes the file, which is complete then, but need not be on the disk. Nothing can be added any
    /// more.
    public func finish() throws(DatabaseError) {
        let connection = try open()
        try connection.run("COMMIT")
        self.connection = nil
        let code = connection.close()
        guard code == SQLITE_OK else { throw DatabaseError(code: code) }
    }

    /// Returns the connection.
    /// - Throws: ``DatabaseError`` if the database is finished.
    func open() throws(DatabaseError) -> SQLiteConnection {
        guard let connection else { throw DatabaseError(code: SQLITE_MISUSE) }
        return connection
    }
}
