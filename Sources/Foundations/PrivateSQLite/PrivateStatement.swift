import CSQLite

/// A prepared query that keeps its database open.
public struct PrivateStatement: ~Copyable {
    private let database: PrivateDatabase
    fileprivate let statement: OpaquePointer?

    /// The storage class of a value.
    public enum Kind: Sendable {
        case null, integer, real, text, blob
    }

    /// Prepares a query that consists of one statement.
    ///
    /// - Throws: ``PrivateDatabaseError``, for example if the schema of the database is damaged.
    public init(_ query: String, in database: PrivateDatabase) throws(PrivateDatabaseError) {
        var statement: OpaquePointer?
        let code = sqlite3_prepare_v2(database.connection, query, -1, &statement, nil)
        self.database = database
        self.statement = statement
        guard code == SQLITE_OK else { throw PrivateDatabaseError(code) }
    }

    deinit { sqlite3_finalize(statement) }

    /// Restarts the query with `number` as the value of its first parameter.
    public func start(with number: Int64) throws(PrivateDatabaseError) {
        reset()
        let code = sqlite3_bind_int64(statement, 1, number)
        guard code == SQLITE_OK else { throw PrivateDatabaseError(code) }
    }

    /// Resets the query and releases the memory of the current row.
    public func reset() {
        // The result code repeats the error of the last step, which was thrown already.
        sqlite3_reset(statement)
    }

    /// Advances to the next row, and returns whether there is one.
    ///
    /// - Throws: ``PrivateDatabaseError``. The rows that were read before remain valid.
    public func step() throws(PrivateDatabaseError) -> Bool {
        switch sqlite3_step(statement) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code: throw PrivateDatabaseError(code)
        }
    }

    /// Returns the storage class of a column of the current row.
    public func kind(_ column: Int32) -> Kind {
        switch sqlite3_column_type(statement, column) {
        case SQLITE_INTEGER: .integer
        case SQLITE_FLOAT: .real
        case SQLITE_TEXT: .text
        case SQLITE_BLOB: .blob
        default: .null
        }
    }

    /// Returns a column of the current row as an integer.
    public func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(statement, column) }

    /// Returns the bytes of a column of the current row, which are empty for NULL.
    ///
    /// A text need not be valid UTF-8.
    public func bytes(_ column: Int32) -> [UInt8] {
        // SQLite requires this order, because the length is known only after the value is converted.
        let start =
            kind(column) == .text
            ? sqlite3_column_text(statement, column).map { UnsafeRawPointer($0) }
            : sqlite3_column_blob(statement, column)
        return [UInt8](UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column))))
    }

    /// Returns a column of the current row as a string, with U+FFFD in place of malformed UTF-8.
    public func text(_ column: Int32) -> String { String(decoding: bytes(column), as: UTF8.self) }

    /// Returns the number of bytes of a column of the current row, which is 0 for NULL.
    public func byteCount(_ column: Int32) -> Int { Int(sqlite3_column_bytes(statement, column)) }
}
