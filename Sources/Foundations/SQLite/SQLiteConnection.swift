import CSQLite

/// A connection to a database, which the owner must close.
struct SQLiteConnection {
    let handle: OpaquePointer

    /// Opens a file by its path or URI, with the flags of `sqlite3_open_v2`.
    init(path: String, flags: Int32) throws(DatabaseError) {
        var opened: OpaquePointer?
        let code = sqlite3_open_v2(path, &opened, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nil)
        guard code == SQLITE_OK, let opened else {
            defer { sqlite3_close_v2(opened) }
            throw DatabaseError(opened, code: code)
        }
        handle = opened
    }

    /// Finalizes all statements, closes the connection, and returns the result code.
    @discardableResult
    func close() -> Int32 {
        while let statement = sqlite3_next_stmt(handle, nil) { sqlite3_finalize(statement) }
        return sqlite3_close_v2(handle)
    }

    /// Runs statements that have no parameters, ignoring the rows that they return.
    func run(_ script: String) throws(DatabaseError) {
        let code = sqlite3_exec(handle, script, nil, nil, nil)
        guard code == SQLITE_OK else { throw DatabaseError(handle, code: code) }
    }

    /// Prepares the statement in the first `count` bytes of `sql`, which is run many times.
    func prepare(_ sql: UnsafePointer<CChar>, count: Int) throws(DatabaseError) -> OpaquePointer {
        var statement: OpaquePointer?
        let code = sqlite3_prepare_v3(handle, sql, Int32(count), UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
        guard code == SQLITE_OK, let statement else { throw DatabaseError(handle, code: code) }
        return statement
    }

    /// Advances a statement, and returns whether there is another row.
    func step(_ statement: OpaquePointer) throws(DatabaseError) -> Bool {
        let code = sqlite3_step(statement)
        switch code & 0xFF {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default: throw DatabaseError(handle, code: code)
        }
    }
}
