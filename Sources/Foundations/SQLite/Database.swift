import CSQLite

/// An open database, which a ``DatabaseFile`` makes accessible to one thread at a time.
///
/// Each statement is prepared once and reused.
///
/// Source: SQLite, "An Introduction To The SQLite C/C++ Interface".
public final class Database {
    private let connection: SQLiteConnection
    /// The prepared statements by the addresses of the string literals that contain their SQL.
    private var preparedStatements: [UnsafePointer<UInt8>: OpaquePointer] = [:]

    /// The maximum time to wait while another connection has locked the file, in milliseconds.
    private static let busyTimeoutMilliseconds: Int32 = 5000

    init(path: String, _ access: DatabaseFile.Access) throws(DatabaseError) {
        let mode = access == .reading ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        connection = try SQLiteConnection(path: path, flags: mode | SQLITE_OPEN_URI)
        sqlite3_busy_timeout(connection.handle, Self.busyTimeoutMilliseconds)
    }

    deinit { connection.close() }

    /// The number of rows that the last statement changed.
    public var changeCount: Int { Int(sqlite3_changes64(connection.handle)) }

    /// The row ID of the most recent insertion.
    public var lastInsertedRow: Int64 { sqlite3_last_insert_rowid(connection.handle) }

    /// Runs a single statement to completion with `values` as its parameters.
    public func run(_ sql: StaticString, _ values: [any DatabaseValue] = []) throws {
        try withStatement(sql) { statement in
            try bind(values, to: statement)
            while try connection.step(statement) {}
        }
    }

    /// Runs statements without parameters, separated by semicolons.
    public func run(script sql: String) throws(DatabaseError) { try connection.run(sql) }

    /// Calls `body` with each row that a single statement returns.
    ///
    /// A row is valid only during the call.
    ///
    /// - Throws: ``DatabaseError``, or the error of `body`.
    public func rows(
        _ sql: StaticString, _ values: [any DatabaseValue] = [], _ body: (borrowing DatabaseRow) throws -> Void
    ) throws {
        try withStatement(sql) { statement in
            try bind(values, to: statement)
            while try connection.step(statement) { try body(DatabaseRow(statement)) }
        }
    }

    /// Returns the first column of the first row of a single statement, or `nil` if there is no row.
    public func first<Value: ColumnValue>(
        _ sql: StaticString, _ values: [any DatabaseValue] = []
    ) throws -> Value? {
        var value: Value??
        try rows(sql, values) { row in
            if value == nil { value = .some(row[0]) }
        }
        return value ?? nil
    }

    /// Returns whether the database has a table with this name, in any letter case.
    public func hasTable(_ name: String) throws -> Bool {
        let found: Int? = try first(
            "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ? COLLATE NOCASE", [name])
        return found != nil
    }

    /// Writes the contents of the write-ahead log to the database, and empties the log.
    public func checkpoint() throws(DatabaseError) {
        let code = sqlite3_wal_checkpoint_v2(connection.handle, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
        guard code == SQLITE_OK else { throw DatabaseError(connection.handle, code: code) }
    }

    /// Writes the contents of the write-ahead log to the database, as far as this is possible without waiting.
    ///
    /// Transactions after the one that the oldest reader sees stay in the log only.
    public func checkpointWithoutWaiting() throws(DatabaseError) {
        let code = sqlite3_wal_checkpoint_v2(connection.handle, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
        guard code == SQLITE_OK || code == SQLITE_BUSY else { throw DatabaseError(connection.handle, code: code) }
    }

    /// Replaces the contents of `destination` with those of this database, in one transaction.
    ///
    /// Other processes can write this database before and after, but not meanwhile.
    ///
    /// Source: SQLite, "Online Backup API".
    public func copy(to destination: Database) throws(DatabaseError) {
        let target = destination.connection.handle
        guard let backup = sqlite3_backup_init(target, "main", connection.handle, "main") else {
            throw DatabaseError(target, code: sqlite3_errcode(target))
        }
        let step = sqlite3_backup_step(backup, -1)
        let end = sqlite3_backup_finish(backup)
        guard step == SQLITE_DONE, end == SQLITE_OK else {
            throw DatabaseError(target, code: end == SQLITE_OK ? step : end)
        }
    }

    /// Calls `body` in a transaction, which is rolled back if `body` throws an error.
    func transaction<Value>(_ begin: StaticString, _ body: (Database) throws -> Value) throws -> Value {
        try run(begin)
        do {
            let value = try body(self)
            try run("COMMIT")
            return value
        } catch {
            // SQLite rolls back automatically after some errors, such as a full disk. If this rollback fails, the error
            // is ignored here, because the next use of the connection fails too.
            if sqlite3_get_autocommit(connection.handle) == 0 { try? run("ROLLBACK") }
            throw error
        }
    }
}

// MARK: - Statements

extension Database {
    /// Calls `body` with the prepared statement for `sql`.
    ///
    /// If an outer call is still running this statement, another statement is prepared for the call.
    private func withStatement(_ sql: StaticString, _ body: (OpaquePointer) throws -> Void) throws {
        let key = sql.utf8Start
        if let kept = preparedStatements[key] {
            guard sqlite3_stmt_busy(kept) == 0 else {
                let another = try prepare(sql)
                defer { sqlite3_finalize(another) }
                return try body(another)
            }
            defer { sqlite3_reset(kept) }
            return try body(kept)
        }
        let new = try prepare(sql)
        preparedStatements[key] = new
        defer { sqlite3_reset(new) }
        try body(new)
    }

    private func prepare(_ sql: StaticString) throws(DatabaseError) -> OpaquePointer {
        let text = UnsafeRawPointer(sql.utf8Start).assumingMemoryBound(to: CChar.self)
        return try connection.prepare(text, count: sql.utf8CodeUnitCount)
    }

    private func bind(_ values: [any DatabaseValue], to statement: OpaquePointer) throws(DatabaseError) {
        for (index, value) in values.enumerated() {
            let code = value.bind(to: DatabaseParameter(statement, Int32(index + 1)))
            guard code == SQLITE_OK else { throw DatabaseError(connection.handle, code: code) }
        }
    }
}
