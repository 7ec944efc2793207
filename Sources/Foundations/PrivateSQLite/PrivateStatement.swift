import CSQLite

/// A query, prepared; it keeps its database open.
public struct PrivateStatement: ~Copyable {
    private let database: PrivateDatabase
    fileprivate let statement: OpaquePointer?

    /// The type of a value in a row.
    public enum Kind: Sendable {
        case null, integer, real, text, blob
    }

    /// Prepares a query of one statement.
    /// - Throws: ``PrivateDatabaseError``: also for damage, since this reads the schema.
    public init(_ query: String, in database: PrivateDatabase) throws(PrivateDatabaseError) {
        var statement: OpaquePointer?
        let code = sqlite3_prepare_v2(database.connection, query, -1, &statement, nil)
        self.database = database
        self.statement = statement
        guard code == SQLITE_OK else { throw PrivateDatabaseError(code) }
    }

    deinit { sqlite3_finalize(statement) }

    /// Begins again, with a number for the first parameter.
    public func start(with number: Int64) throws(PrivateDatabaseError) {
        reset()
        let code = sqlite3_bind_int64(statement, 1, number)
        guard code == SQLITE_OK else { throw PrivateDatabaseError(code) }
    }

    /// Lets go of the row and of what was read for it.
    public func reset() {
        // Its code is that of the last step, which was told.
        sqlite3_reset(statement)
    }

    /// Goes to the next row.
    /// - Returns: whether there is one.
    /// - Throws: ``PrivateDatabaseError``; the rows before stay good.
    public func step() throws(PrivateDatabaseError) -> Bool {
        switch sqlite3_step(statement) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code: throw PrivateDatabaseError(code)
        }
    }

    /// The type of a value of the row as it is stored.
    public func kind(_ column: Int32) -> Kind {
        switch sqlite3_column_type(statement, column) {
        case SQLITE_INTEGER: .integer
        case SQLITE_FLOAT: .real
        case SQLITE_TEXT: .text
        case SQLITE_BLOB: .blob
        default: .null
        }
    }

    /// A value of the row as an integer.
    public func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(statement, column) }

    /// The bytes of a value of the row, a text in whatever SQLite took for UTF-8; null is none.
    public func bytes(_ column: Int32) -> [UInt8] {
        // In this order: asking for the bytes converts the value, and only then its length is known.
        let start =
            kind(column) == .text
            ? sqlite3_column_text(statement, column).map { UnsafeRawPointer($0) }
            : sqlite3_column_blob(statement, column)
        return [UInt8](UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column))))
    }

    /// A value of the row as text.
    public func text(_ column: Int32) -> String { String(decoding: bytes(column), as: UTF8.self) }
}

extension PrivateStatement {
    /// How many bytes a value of the row has, a text in UTF-8; null has none.
    public func byteCount(_ column: Int32) -> Int { Int(sqlite3_column_bytes(statement, column)) }
}
