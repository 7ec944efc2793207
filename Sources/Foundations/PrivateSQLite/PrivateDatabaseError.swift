import CSQLite

/// An operation that SQLite could not do, and why.
///
/// The words are SQLite's own for the code; those about the database in question are left out, for they quote it.
public struct PrivateDatabaseError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The extended result code.
    public let code: Int32

    /// The error for a database that takes longer to read than its size can explain.
    public static let outOfBudget = PrivateDatabaseError(SQLITE_INTERRUPT)

    init(_ code: Int32) {
        self.code = code
    }

    private var primary: Int32 { code & 0xFF }

    /// Whether the file is no database at all, or an encrypted one.
    public var isNotADatabase: Bool { primary == SQLITE_NOTADB }
    /// Whether something in the database contradicts itself, or is missing.
    public var isDamage: Bool { primary == SQLITE_CORRUPT || code == SQLITE_IOERR | 2 << 8 }
    /// Whether a value has more bytes than allowed.
    public var isTooLarge: Bool { primary == SQLITE_TOOBIG }
    /// Whether reading took more steps than such a database can need.
    public var isOutOfBudget: Bool { primary == SQLITE_INTERRUPT }
    /// Whether the disk with the copy is the trouble, not the database.
    public var isFault: Bool { [SQLITE_FULL, SQLITE_NOMEM].contains(primary) || primary == SQLITE_IOERR && !isDamage }

    /// The code in words.
    public var description: String {
        isOutOfBudget ? "reading it takes too many steps" : String(cString: sqlite3_errstr(primary))
    }
}
