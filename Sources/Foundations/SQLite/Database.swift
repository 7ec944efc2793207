import CSQLite

/// An open database, as ``DatabaseFile`` lends it to one piece of work at a time.
///
/// Statements that stand in the program are prepared once and kept.
///
/// Source: SQLite, "An Introduction To The SQLite C/C++ Interface".
public final class Database {
    private let connection: SQLiteConnection
    /// Statements by the place of their text in the program.
    private var prepared: [UnsafePointer<UInt8>: OpaquePointer] = [:]

    /// Opens a file.
    init(path: String, _ access: DatabaseFile.Access, patience milliseconds: Int32) throws(DatabaseError) {
        let mode = access == .reading ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        connection = try SQLiteConnection(path: path, flags: mode | SQLITE_OPEN_URI)
        sqlite3_busy_timeout(connection.handle, milliseconds)
    }

    deinit { connection.close() }

    /// How many rows the last statement changed.
    public var changeCount: Int { Int(sqlite3_changes64(connection.handle)) }

    /// The number of the row that was inserted last.
    public var lastInsertedRow: Int64 { sqlite3_last_insert_rowid(connection.handle) }

    /// Runs a statement to its end.
    /// - Parameters:
    ///   - sql: one statement that stands in the program.
    ///   - values: for its parameters, in their order.
    /// - Throws: ``DatabaseError``.
    public func run(_ sql: StaticString, _ values: [any DatabaseValue] = []) throws {
        try withStatement(sql) { statement in
            try bind(values, to: statement)
            while try connection.step(statement) {}
        }
    }

    /// Runs statements that have no parameters and give no rows.
    /// - Parameter sql: the statements, with semicolons between them.
    public func run(script sql: String) throws(DatabaseError) { try connection.run(sql) }

    /// Gives the rows of a statement, one after another.
    /// - Parameters:
    ///   - sql: one statement that stands in the program.
    ///   - values: for its parameters, in their order.
    ///   - body: takes a row, which is gone when it returns.
    /// - Throws: ``DatabaseError``, and what `body` throws.
    public func rows(
        _ sql: StaticString, _ values: [any DatabaseValue] = [], _ body: (borrowing DatabaseRow) throws -> Void
    ) throws {
        try withStatement(sql) { statement in
            try bind(values, to: statement)
            while try connection.step(statement) { try body(DatabaseRow(statement)) }
        }
    }

    /// The first column of the first row of a statement; nil if there is no row. The statement runs to its end.
    /// - Throws: ``DatabaseError``.
    public func first<Value: ColumnValue>(
        _ sql: StaticString, _ values: [any DatabaseValue] = []
    ) throws -> Value? {
        var value: Value?
        try rows(sql, values) { row in
            if value == nil { value = row[0] }
        }
        return value
    }

    /// Whether there is a table of a name.
    /// - Throws: ``DatabaseError``.
    public func hasTable(_ name: String) throws -> Bool {
        let found: Int? = try first(
            "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ? COLLATE NOCASE", [name])
        return found != nil
    }

    /// Writes what is in the write-ahead log into the database, and empties the log.
    public func checkpoint() throws(DatabaseError) {
        let code = sqlite3_wal_checkpoint_v2(connection.handle, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
        guard code == SQLITE_OK else { throw DatabaseError(connection.handle, code: code) }
    }

    /// Runs a body in a transaction, which is rolled back if the body throws.
    func transaction<Value>(_ begin: StaticString, _ body: (Database) throws -> Value) throws -> Value {
        try run(begin)
        do {
            let value = try body(self)
            try run("COMMIT")
            return value
        } catch {
            // SQLite may have rolled back by itself, as for a full disk. If rolling back fails too, the connection is of no
            // use any more, and whoever uses it next is told.
            if sqlite3_get_autocommit(connection.handle) == 0 { try? run("ROLLBACK") }
            throw error
        }
    }
}

// MARK: - Statements

extension Database {
    /// Lends a statement. One that is at work already, further up in the same call, is prepared once more.
    private func withStatement(_ sql: StaticString, _ body: (OpaquePointer) throws -> Void) throws {
        let key = sql.utf8Start
        if let kept = prepared[key] {
            guard sqlite3_stmt_busy(kept) == 0 else {
                let another = try prepare(sql)
                defer { sqlite3_finalize(another) }
                return try body(another)
            }
            defer { sqlite3_reset(kept) }
            return try body(kept)
        }
        let new = try prepare(sql)
        prepared[key] = new
        defer { sqlite3_reset(new) }
        try body(new)
    }

    private func prepare(_ sql: StaticString) throws(DatabaseError) -> OpaquePointer {
        let text = UnsafeRawPointer(sql.utf8Start).assumingMemoryBound(to: CChar.self)
        return try connection.prepare(text, count: sql.utf8CodeUnitCount)
    }

    private func bind(_ values: [any DatabaseValue], to statement: OpaquePointer) throws(DatabaseError) {
        for (place, value) in values.enumerated() {
            let code = value.bind(to: DatabaseParameter(statement, Int32(place + 1)))
            guard code == SQLITE_OK else { throw DatabaseError(connection.handle, code: code) }
        }
    }
}
