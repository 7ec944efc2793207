import CLibrary
import CSQLite
import Files

/// An error that SQLite reports.
///
/// Source: SQLite, "Result and Error Codes".
public struct DatabaseError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The categories of errors.
    public enum Kind: Sendable, Equatable {
        /// The file is damaged.
        case damaged
        /// The file is not a database.
        case notADatabase
        /// The disk is full.
        case diskFull
        /// The file cannot be opened, or cannot be written.
        case accessDenied
        /// Any other error.
        case other
    }

    /// The extended result code, such as `SQLITE_IOERR_SHMSIZE`.
    private let extendedCode: Int32
    /// The message of SQLite.
    public let message: String

    /// The category of the error.
    public var kind: Kind {
        switch extendedCode & 0xFF {
        case SQLITE_CORRUPT: .damaged
        case SQLITE_NOTADB: .notADatabase
        // SQLite reports that there is no space for shared memory as an I/O error.
        case SQLITE_IOERR where extendedCode == csqlite_no_space_for_shared_memory: .diskFull
        case SQLITE_FULL: .diskFull
        case SQLITE_READONLY, SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_AUTH: .accessDenied
        default: .other
        }
    }

    /// The message and the code of SQLite.
    public var description: String { "\(message) (SQLite \(extendedCode))" }

    private init(_ extendedCode: Int32, _ message: String) {
        self.extendedCode = extendedCode
        self.message = message
    }

    /// Creates an error with the general message for a result code.
    init(code: Int32) { self.init(code, String(cString: sqlite3_errstr(code))) }

    /// Creates an error for the last failed call on a connection.
    ///
    /// The connection is `nil` if its memory could not be allocated.
    init(_ connection: OpaquePointer?, code: Int32) {
        // The message of the connection may belong to a later error.
        guard let connection, sqlite3_extended_errcode(connection) & 0xFF == code & 0xFF else {
            self.init(code: code)
            return
        }
        self.init(sqlite3_extended_errcode(connection), String(cString: sqlite3_errmsg(connection)))
    }
}

extension FileError {
    /// Creates a file error from a database error.
    ///
    /// `action` completes the message "cannot …".
    public init(_ error: any Error, _ operation: Operation, _ path: String, doing action: String) {
        if case .diskFull? = (error as? DatabaseError)?.kind {
            self.init(operation, path, code: ENOSPC)
        } else {
            self.init(operation, path, code: EIO, message: "cannot \(action): \(error)")
        }
    }
}

/// An error of an operation on a ``PrivateDatabase``.
///
/// SQLite's own message is omitted, because it may quote the contents of the database.
public struct PrivateDatabaseError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The extended result code of SQLite.
    public let code: Int32

    /// The error that is thrown if reading takes more steps than the size of the database justifies.
    public static let outOfBudget = PrivateDatabaseError(code: SQLITE_INTERRUPT)

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
