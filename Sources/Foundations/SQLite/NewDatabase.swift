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
    private var connection: OpaquePointer?
    /// The statements of all insertions. A connection stays open, and keeps its lock, until they are finalized.
    private var insertions: [InsertionStatements] = []

    /// How much of the file SQLite keeps in memory, in KiB; what is more goes to the file.
    private static let cacheSize = 8 << 10
    /// The size of a page: large ones cost less to fill one after another.
    private static let pageSize = 32 << 10

    /// Opens a file and begins the transaction.
    /// - Parameters:
    ///   - path: an empty file, or none; an empty path is a private file that is gone at the end.
    ///   - threads: how many threads may help to sort.
    public init(path: String, threads: Int = 0) throws(DatabaseError) {
        var opened: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        let code = sqlite3_open_v2(path, &opened, flags, nil)
        guard code == SQLITE_OK else {
            defer { sqlite3_close_v2(opened) }
            throw DatabaseError(opened, code: code)
        }
        connection = opened
        try run(
            """
            PRAGMA page_size = \(Self.pageSize); PRAGMA secure_delete = OFF; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;
            PRAGMA cache_size = -\(Self.cacheSize); PRAGMA temp_store = FILE; PRAGMA threads = \(max(0, threads));
            BEGIN
            """)
    }

    deinit { close() }

    @discardableResult
    private func close() -> Int32 {
        for statements in insertions { statements.end() }
        defer {
            connection = nil
            insertions = []
        }
        return sqlite3_close_v2(connection)
    }

    /// Runs statements that have no parameters and give no rows.
    /// - Parameter script: the statements, with semicolons between them.
    public func run(_ script: String) throws(DatabaseError) {
        let code = sqlite3_exec(connection, script, nil, nil, nil)
        guard code == SQLITE_OK else { throw DatabaseError(connection, code: code) }
    }

    /// Prepares the adding of rows to a table.
    /// - Parameters:
    ///   - table: its name, as it stands in the program.
    ///   - columns: how many columns a row has.
    public func insertion(into table: String, columns: Int) throws(DatabaseError) -> RowInsertion {
        let statements = try InsertionStatements(into: table, columns: columns, connection)
        insertions.append(statements)
        return RowInsertion(statements, columns: columns, of: self)
    }

    /// Gives the bytes of the first column of each row of a query.
    /// - Parameter body: takes the bytes, which are gone when it returns.
    /// - Throws: ``DatabaseError``, and what `body` throws.
    public func bytes(_ query: String, _ body: (RawSpan) throws -> Void) throws {
        let statement = try prepare(query)
        defer { sqlite3_finalize(statement) }
        while true {
            let code = sqlite3_step(statement)
            guard code == SQLITE_ROW else {
                guard code == SQLITE_DONE else { throw DatabaseError(connection, code: code) }
                return
            }
            // In this order, as SQLite asks for it.
            let start = sqlite3_column_blob(statement, 0)
            try body(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, 0))).bytes)
        }
    }

    /// Ends the transaction and closes the file, which is complete then, but need not be on the disk. Nothing can be added any
    /// more.
    public func finish() throws(DatabaseError) {
        try run("COMMIT")
        let code = close()
        guard code == SQLITE_OK else { throw DatabaseError(code: code) }
    }

    var handle: OpaquePointer? { connection }

    private func prepare(_ sql: String) throws(DatabaseError) -> OpaquePointer {
        var statement: OpaquePointer?
        let code = sqlite3_prepare_v3(connection, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
        guard code == SQLITE_OK, let statement else { throw DatabaseError(connection, code: code) }
        return statement
    }
}
