import CSQLite

/// What SQLite says went wrong.
///
/// Source: SQLite, "Result and Error Codes".
public struct DatabaseError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What is wrong, as far as something can be done about it.
    public enum Kind: Sendable, Equatable {
        /// The file is damaged.
        case damaged
        /// The file is no database.
        case notADatabase
        /// The disk is full.
        case full
        /// The file may not be opened, or not be written to.
        case notAllowed
        /// Something else.
        case other
    }

    /// The extended result code, such as `SQLITE_IOERR_SHMSIZE`.
    let extendedCode: Int32
    /// SQLite's words.
    public let message: String

    /// What is wrong.
    public var kind: Kind {
        switch extendedCode & 0xFF {
        case SQLITE_CORRUPT: .damaged
        case SQLITE_NOTADB: .notADatabase
        // What its processes share has no room: SQLite has no other word for that.
        case SQLITE_IOERR where extendedCode == csqlite_no_room_for_shared_memory: .full
        case SQLITE_FULL: .full
        case SQLITE_READONLY, SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_AUTH: .notAllowed
        default: .other
        }
    }

    /// SQLite's words, and the code.
    public var description: String { "\(message) (SQLite \(extendedCode))" }

    private init(_ extendedCode: Int32, _ message: String) {
        self.extendedCode = extendedCode
        self.message = message
    }

    /// Says what a result code stands for.
    init(code: Int32) { self.init(code, String(cString: sqlite3_errstr(code))) }

    /// Says why the last call failed that used a connection.
    /// - Parameter connection: nil if there was no memory for one.
    init(_ connection: OpaquePointer?, code: Int32) {
        // The connection may have another error by now, with words that do not belong to this one.
        guard let connection, sqlite3_extended_errcode(connection) & 0xFF == code & 0xFF else {
            self.init(code: code)
            return
        }
        self.init(sqlite3_extended_errcode(connection), String(cString: sqlite3_errmsg(connection)))
    }
}
