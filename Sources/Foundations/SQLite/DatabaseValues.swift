import CSQLite

/// A type that can be bound to a parameter of a statement.
public protocol DatabaseValue: Sendable {
    /// Binds the value to `parameter` and returns the result code of SQLite.
    func bind(to parameter: DatabaseParameter) -> Int32
}

/// A parameter of a statement, to which one value is bound.
public struct DatabaseParameter {
    private let statement: OpaquePointer
    private let index: Int32

    init(_ statement: OpaquePointer, _ index: Int32) {
        self.statement = statement
        self.index = index
    }

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
