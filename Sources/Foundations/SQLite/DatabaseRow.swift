import CSQLite

/// A row that a statement returns.
///
/// The indices of the columns start at 0.
public struct DatabaseRow: ~Copyable {
    private let statement: OpaquePointer

    init(_ statement: OpaquePointer) { self.statement = statement }

    /// The value of the column at the index `column`.
    ///
    /// SQLite converts the value to the requested type. For example, a text that is not a number becomes 0.
    public subscript<Value: ColumnValue>(column: Int) -> Value { Value(Column(statement, Int32(column))) }

    /// Calls `body` with the bytes of a column, which are empty for NULL.
    public func withBytes<Value>(of column: Int, _ body: (RawSpan) throws -> Value) rethrows -> Value {
        // SQLite requires these calls in this order.
        let start = sqlite3_column_blob(statement, Int32(column))
        let count = sqlite3_column_bytes(statement, Int32(column))
        return try body(UnsafeRawBufferPointer(start: start, count: Int(count)).bytes)
    }
}

/// A type that can be read from a column.
public protocol ColumnValue {
    /// Reads the value of a column.
    init(_ column: Column)
}

/// A column of a row.
public struct Column {
    private let statement: OpaquePointer
    private let index: Int32

    init(_ statement: OpaquePointer, _ index: Int32) {
        self.statement = statement
        self.index = index
    }

    var isNull: Bool { sqlite3_column_type(statement, index) == SQLITE_NULL }

    var integer: Int64 { sqlite3_column_int64(statement, index) }

    var text: String {
        guard let start = sqlite3_column_text(statement, index) else { return "" }
        let count = Int(sqlite3_column_bytes(statement, index))
        return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }
}

extension Int64: ColumnValue {
    /// Reads a number.
    public init(_ column: Column) { self = column.integer }
}

extension Int: ColumnValue {
    /// Reads a number, with a magnitude of at most 2⁴⁰.
    ///
    /// A day, a count or a status is far below this limit. A forged number is limited, so that sums do not overflow.
    public init(_ column: Column) {
        let limit: Int64 = 1 << 40
        self = Int(Swift.min(Swift.max(column.integer, -limit), limit))
    }
}

extension Bool: ColumnValue {
    /// Reads a number, where 0 means `false` and any other number means `true`.
    public init(_ column: Column) { self = column.integer != 0 }
}

extension String: ColumnValue {
    /// Reads a text and replaces malformed UTF-8 with U+FFFD.
    public init(_ column: Column) { self = column.text }
}

extension Optional: ColumnValue where Wrapped: ColumnValue {
    /// Reads a value, which is `nil` for NULL.
    public init(_ column: Column) { self = column.isNull ? nil : Wrapped(column) }
}
