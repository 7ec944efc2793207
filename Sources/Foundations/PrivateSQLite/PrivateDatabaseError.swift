import CSQLite

/// An error of an operation on a ``PrivateDatabase``.
///
/// SQLite's own message is omitted, because it may quote the contents of the database.
public struct PrivateDatabaseError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The extended result code of SQLite.
    public let code: Int32

    /// The error that is thrown if reading takes more steps than the size of the database justifies.
    public static let outOfBudget = PrivateDatabaseError(SQLITE_INTERRUPT)

    init(_ code: Int32) {
        self.code = code
    }

    private var primaryCode: Int32 { code & 0xFF }

    /// Whether the file is not a database, or is encrypted.
    public var isNotADatabase: Bool { primaryCode == SQLITE_NOTADB }
    /// Whether the database is inconsistent or incomplete.
    public var indicatesDamage: Bool { primaryCode == SQLITE_CORRUPT || code == SQLITE_IOERR | 2 << 8 }
    /// Whether a value exceeds the size limit.
    public var isTooLarge: Bool { primaryCode == SQLITE_TOOBIG }
    /// Whether reading the database took more steps than its size justifies.
    public var isOutOfBudget: Bool { primaryCode == SQLITE_INTERRUPT }
    /// Whether the error is caused by a lack of memory or by the disk that contains the copy, and not by the database.
    public var isResourceError: Bool {
        [SQLITE_FULL, SQLITE_NOMEM].contains(primaryCode) || primaryCode == SQLITE_IOERR && !indicatesDamage
    }

    /// The message for the result code.
    public var description: String {
        isOutOfBudget ? "reading it takes too many steps" : String(cString: sqlite3_errstr(primaryCode))
    }
}
