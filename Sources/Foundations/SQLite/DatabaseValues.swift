import CSQLite

/// A row that a statement returns.
///
/// The indices of the columns start at 0.
public struct DatabaseRow: ~Copyable {
    let statement: OpaquePointer

    /// The value of the column at the index `column`.
    ///
    /// SQLite converts the value to the requested type. For example, a text that is not a number becomes 0.
    public subscript<Value: ColumnValue>(column: Int) -> Value { Value(self, at: column) }

    /// Calls `body` with the bytes of a column, which are empty for NULL.
    public func withBytes<Value>(of column: Int, _ body: (RawSpan) throws -> Value) rethrows -> Value {
        // SQLite requires these calls in this order.
        let start = sqlite3_column_blob(statement, Int32(column))
        let count = sqlite3_column_bytes(statement, Int32(column))
        return try body(UnsafeRawBufferPointer(start: start, count: Int(count)).bytes)
    }

    fileprivate func isNull(_ column: Int) -> Bool {
        sqlite3_column_type(statement, Int32(column)) == SQLITE_NULL
    }

    fileprivate func integer(_ column: Int) -> Int64 { sqlite3_column_int64(statement, Int32(column)) }

    fileprivate func text(_ column: Int) -> String {
        guard let start = sqlite3_column_text(statement, Int32(column)) else { return "" }
        let count = Int(sqlite3_column_bytes(statement, Int32(column)))
        return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }
}

/// A type that can be read from a column.
public protocol ColumnValue {
    /// Reads the value of the column at the index `column`.
    init(_ row: borrowing DatabaseRow, at column: Int)
}

extension Int64: ColumnValue {
    /// Reads a number.
    public init(_ row: borrowing DatabaseRow, at column: Int) { self = row.integer(column) }
}

extension Int: ColumnValue {
    /// Reads a number, with a magnitude of at most 2⁴⁰.
    ///
    /// A day, a count or a status is far below this limit. A forged number is limited, so that sums do not overflow.
    public init(_ row: borrowing DatabaseRow, at column: Int) {
        let limit: Int64 = 1 << 40
        self = Int(Swift.min(Swift.max(row.integer(column), -limit), limit))
    }
}

extension Bool: ColumnValue {
    /// Reads a number, where 0 means `false` and any other number means `true`.
    public init(_ row: borrowing DatabaseRow, at column: Int) { self = row.integer(column) != 0 }
}

extension String: ColumnValue {
    /// Reads a text and replaces malformed UTF-8 with U+FFFD.
    public init(_ row: borrowing DatabaseRow, at column: Int) { self = row.text(column) }
}

extension Optional: ColumnValue where Wrapped: ColumnValue {
    /// Reads a value, which is `nil` for NULL.
    public init(_ row: borrowing DatabaseRow, at column: Int) {
        self = row.isNull(column) ? nil : Wrapped(row, at: column)
    }
}

/// A type that can be bound to a parameter of a statement.
public protocol DatabaseValue: Sendable {
    /// Binds the value to `parameter` and returns the result code of SQLite.
    func bind(to parameter: DatabaseParameter) -> Int32
}

/// A parameter of a statement, to which one value is bound.
public struct DatabaseParameter {
    let statement: OpaquePointer
    let index: Int32

    /// The destructor that makes SQLite copy a value, because the value may be released before the statement runs.
    private static let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

    func bindNull() -> Int32 { sqlite3_bind_null(statement, index) }

    /// Binds a number.
    public func bind(_ number: Int64) -> Int32 { sqlite3_bind_int64(statement, index, number) }

    /// Binds a text.
    public func bind(_ text: String) -> Int32 {
        var text = text
        return text.withUTF8 { text in
            text.withMemoryRebound(to: CChar.self) { text in
                sqlite3_bind_text64(
                    statement, index, text.baseAddress ?? Self.emptyText, UInt64(text.count), Self.transient,
                    UInt8(SQLITE_UTF8))
            }
        }
    }

    /// Binds bytes as a blob.
    public func bind(_ bytes: RawSpan) -> Int32 {
        bytes.withUnsafeBytes { bytes in
            sqlite3_bind_blob64(
                statement, index, bytes.baseAddress ?? UnsafeRawPointer(Self.emptyText), UInt64(bytes.count),
                Self.transient)
        }
    }

    /// The address of an empty text.
    ///
    /// The address is needed because SQLite interprets a null pointer as NULL.
    static var emptyText: UnsafePointer<CChar> {
        UnsafeRawPointer(StaticString("").utf8Start).assumingMemoryBound(to: CChar.self)
    }
}

extension Int: DatabaseValue {
    /// Binds the number.
    public func bind(to parameter: DatabaseParameter) -> Int32 { parameter.bind(Int64(self)) }
}

extension Int64: DatabaseValue {
    /// Binds the number.
    public func bind(to parameter: DatabaseParameter) -> Int32 { parameter.bind(self) }
}

extension Bool: DatabaseValue {
    /// Binds 1 for `true` and 0 for `false`.
    public func bind(to parameter: DatabaseParameter) -> Int32 { parameter.bind(self ? 1 : 0) }
}

extension String: DatabaseValue {
    /// Binds the text.
    public func bind(to parameter: DatabaseParameter) -> Int32 { parameter.bind(self) }
}

extension Optional: DatabaseValue where Wrapped: DatabaseValue {
    /// Binds the value, or NULL for `nil`.
    public func bind(to parameter: DatabaseParameter) -> Int32 {
        switch self {
        case .some(let value): value.bind(to: parameter)
        case nil: parameter.bindNull()
        }
    }
}
