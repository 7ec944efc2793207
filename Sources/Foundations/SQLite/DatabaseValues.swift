import CSQLite

/// A value for a parameter of a statement.
public protocol DatabaseValue: Sendable {
    /// Gives the value to a parameter.
    /// - Returns: The result code of SQLite.
    func bind(to parameter: DatabaseParameter) -> Int32
}

/// A parameter of a statement, which takes one value.
public struct DatabaseParameter {
    private let statement: OpaquePointer
    private let place: Int32

    init(_ statement: OpaquePointer, _ place: Int32) {
        self.statement = statement
        self.place = place
    }

    /// SQLite copies a text or bytes: they may go before the statement runs.
    private static let isCopied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

    /// Takes nothing.
    public func takeNull() -> Int32 { sqlite3_bind_null(statement, place) }

    /// Takes a number.
    public func take(_ number: Int64) -> Int32 { sqlite3_bind_int64(statement, place, number) }

    /// Takes a text.
    public func take(_ text: String) -> Int32 {
        var text = text
        return text.withUTF8 { text in
            text.withMemoryRebound(to: CChar.self) { text in
                sqlite3_bind_text64(
                    statement, place, text.baseAddress ?? Self.noBytes, UInt64(text.count), Self.isCopied,
                    UInt8(SQLITE_UTF8))
            }
        }
    }

    /// Takes bytes.
    public func take(_ bytes: RawSpan) -> Int32 {
        bytes.withUnsafeBytes { bytes in
            sqlite3_bind_blob64(
                statement, place, bytes.baseAddress ?? UnsafeRawPointer(Self.noBytes), UInt64(bytes.count),
                Self.isCopied)
        }
    }

    /// The address of an empty text. SQLite interprets a null pointer as NULL.
    static var noBytes: UnsafePointer<CChar> {
        UnsafeRawPointer(StaticString("").utf8Start).assumingMemoryBound(to: CChar.self)
    }
}

extension Int: DatabaseValue {
    /// Gives the number.
    public func bind(to parameter: DatabaseParameter) -> Int32 { parameter.take(Int64(self)) }
}

extension Int64: DatabaseValue {
    /// Gives the number.
    public func bind(to parameter: DatabaseParameter) -> Int32 { parameter.take(self) }
}

extension Bool: DatabaseValue {
    /// Gives 1 for true, 0 for false.
    public func bind(to parameter: DatabaseParameter) -> Int32 { parameter.take(self ? 1 : 0) }
}

extension String: DatabaseValue {
    /// Gives the text.
    public func bind(to parameter: DatabaseParameter) -> Int32 { parameter.take(self) }
}

extension Optional: DatabaseValue where Wrapped: DatabaseValue {
    /// Gives the value, or NULL for none.
    public func bind(to parameter: DatabaseParameter) -> Int32 {
        switch self {
        case .some(let value): value.bind(to: parameter)
        case nil: parameter.takeNull()
        }
    }
}
