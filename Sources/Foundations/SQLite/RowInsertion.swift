import CSQLite

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
