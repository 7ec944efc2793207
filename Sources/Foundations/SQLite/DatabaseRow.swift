import CSQLite

/// A row that a statement gives. Columns are counted from 0.
public struct DatabaseRow: ~Copyable {
    private let statement: OpaquePointer

    init(_ statement: OpaquePointer) { self.statement = statement }

    /// The value of a column. SQLite converts what is of another type: a text that is no number becomes 0.
    public subscript<Value: ColumnValue>(column: Int) -> Value { Value(Column(statement, Int32(column))) }

    /// Gives the bytes of a column to a body; none for NULL.
    public func withBytes<Value>(of column: Int, _ body: (RawSpan) throws -> Value) rethrows -> Value {
        // In this order, as SQLite asks for it.
        let start = sqlite3_column_blob(statement, Int32(column))
        let count = sqlite3_column_bytes(statement, Int32(column))
        return try body(UnsafeRawBufferPointer(start: start, count: Int(count)).bytes)
    }
}

/// A value that a column can have.
public protocol ColumnValue {
    /// Reads the value of a column.
    init(_ column: Column)
}

/// A column of a row.
public struct Column {
    private let statement: OpaquePointer
    private let place: Int32

    init(_ statement: OpaquePointer, _ place: Int32) {
        self.statement = statement
        self.place = place
    }

    /// Whether there is no value.
    var isNull: Bool { sqlite3_column_type(statement, place) == SQLITE_NULL }

    var integer: Int64 { sqlite3_column_int64(statement, place) }

    var text: String {
        guard let start = sqlite3_column_text(statement, place) else { return "" }
        let count = Int(sqlite3_column_bytes(statement, place))
        return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }
}

extension Int64: ColumnValue {
    /// Reads a number.
    public init(_ column: Column) { self = column.integer }
}

extension Int: ColumnValue {
    /// Reads a number.
    public init(_ column: Column) { self = Int(column.integer) }
}

extension Bool: ColumnValue {
    /// Reads a number: true for all but 0.
    public init(_ column: Column) { self = column.integer != 0 }
}

extension String: ColumnValue {
    /// Reads a text; empty for NULL. What is not UTF-8 in it is replaced.
    public init(_ column: Column) { self = column.text }
}

extension Optional: ColumnValue where Wrapped: ColumnValue {
    /// Reads a value; nil for NULL.
    public init(_ column: Column) { self = column.isNull ? nil : Wrapped(column) }
}
