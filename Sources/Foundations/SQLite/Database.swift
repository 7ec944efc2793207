import CLibrary
import CSQLite
import Files
import Synchronization

/// A database file with one connection, which only one thread uses at a time.
///
/// ```swift
/// let file = try DatabaseFile(path: path, .writing)
/// try file.write { try $0.run("CREATE TABLE items (key BLOB PRIMARY KEY) WITHOUT ROWID") }
/// let count: Int? = try file.read { try $0.first("SELECT count(*) FROM items") }
/// ```
///
/// The file is represented by a class, because several owners share the connection.
public final class DatabaseFile: Sendable {
    private let connection: Mutex<Connection>

    /// The database, or `nil` once it is closed.
    ///
    /// The structure is `Sendable` although `Database` is not, because the lock gives access to one thread at a time.
    private struct Connection: @unchecked Sendable {
        var database: Database?
    }

    /// Opens a file by its path, or by a URI that begins with `file:`.
    public init(path: String, _ access: DatabaseAccess) throws(DatabaseError) {
        connection = Mutex(Connection(database: try Database(path: path, access)))
    }

    /// Calls `body` in a read transaction, during which the contents of the file do not change.
    ///
    /// - Throws: ``DatabaseError``, or the error of `body`.
    public func read<Value: Sendable>(_ body: (Database) throws -> Value) throws -> Value {
        try withoutTransaction { try $0.transaction("BEGIN DEFERRED", body) }
    }

    /// Calls `body` in a write transaction, which is rolled back if `body` throws an error.
    ///
    /// - Throws: ``DatabaseError``, or the error of `body`.
    public func write<Value: Sendable>(_ body: (Database) throws -> Value) throws -> Value {
        try withoutTransaction { try $0.transaction("BEGIN IMMEDIATE", body) }
    }

    /// Calls `body` without a transaction, for operations that SQLite does not support in a transaction.
    ///
    /// - Throws: ``DatabaseError``, for example if the file is closed, or the error of `body`.
    public func withoutTransaction<Value: Sendable>(_ body: (Database) throws -> Value) throws -> Value {
        try connection.withLock { connection in
            guard let database = connection.database else { throw DatabaseError(code: SQLITE_MISUSE) }
            return try body(database)
        }
    }

    /// Replaces the contents of `destination` with those of this file, in one transaction.
    ///
    /// - Throws: ``DatabaseError``. The destination is unchanged in this case.
    public func copy(to destination: DatabaseFile) throws {
        try withoutTransaction { source in try destination.withoutTransaction { try source.copy(to: $0) } }
    }

    /// Closes the file after the current access ends.
    ///
    /// If no other connection uses the file, SQLite writes the contents of the write-ahead log to the database file.
    public func close() {
        connection.withLock { $0.database = nil }
    }
}

/// The kind of access to a database file.
public enum DatabaseAccess: Sendable {
    /// Read-only access to an existing file.
    case reading
    /// Read and write access to a file that is created if it does not exist.
    case writing
}

/// An open database, which a ``DatabaseFile`` makes accessible to one thread at a time.
///
/// Each statement is prepared once and reused.
///
/// Source: SQLite, "An Introduction To The SQLite C/C++ Interface".
public final class Database {
    private let connection: SQLiteConnection
    /// The prepared statements by the addresses of the string literals that contain their SQL.
    private var preparedStatements: [UnsafePointer<UInt8>: OpaquePointer] = [:]

    /// The maximum time to wait while another connection has locked the file, in milliseconds.
    private static let busyTimeoutMilliseconds: Int32 = 5000

    init(path: String, _ access: DatabaseAccess) throws(DatabaseError) {
        let mode = access == .reading ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        connection = try SQLiteConnection(path: path, flags: mode | SQLITE_OPEN_URI)
        sqlite3_busy_timeout(connection.handle, Self.busyTimeoutMilliseconds)
    }

    deinit { connection.close() }

    /// The number of rows that the last statement changed.
    public var changeCount: Int { Int(sqlite3_changes64(connection.handle)) }

    /// The row ID of the most recent insertion.
    public var lastInsertedRow: Int64 { sqlite3_last_insert_rowid(connection.handle) }

    /// Runs a single statement to completion with `values` as its parameters.
    public func run(_ sql: StaticString, _ values: [any DatabaseValue] = []) throws {
        try withStatement(sql) { statement in
            try bind(values, to: statement)
            while try connection.step(statement) {}
        }
    }

    /// Runs statements without parameters, separated by semicolons.
    public func run(script sql: String) throws(DatabaseError) { try connection.run(sql) }

    /// Calls `body` with each row that a single statement returns.
    ///
    /// A row is valid only during the call.
    ///
    /// - Throws: ``DatabaseError``, or the error of `body`.
    public func rows(
        _ sql: StaticString, _ values: [any DatabaseValue] = [], _ body: (borrowing DatabaseRow) throws -> Void
    ) throws {
        try withStatement(sql) { statement in
            try bind(values, to: statement)
            while try connection.step(statement) { try body(DatabaseRow(statement: statement)) }
        }
    }

    /// Returns the first column of the first row of a single statement, or `nil` if there is no row.
    public func first<Value: ColumnValue>(
        _ sql: StaticString, _ values: [any DatabaseValue] = []
    ) throws -> Value? {
        var value: Value??
        try rows(sql, values) { row in
            if value == nil { value = .some(row[0]) }
        }
        return value ?? nil
    }

    /// Returns whether the database has a table with this name, in any letter case.
    public func hasTable(_ name: String) throws -> Bool {
        let found: Int? = try first(
            "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ? COLLATE NOCASE", [name])
        return found != nil
    }

    /// Writes the contents of the write-ahead log to the database, as far as this is possible without waiting.
    ///
    /// Transactions after the one that the oldest reader sees stay in the log only.
    public func checkpointWithoutWaiting() throws(DatabaseError) {
        let code = sqlite3_wal_checkpoint_v2(connection.handle, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
        guard code == SQLITE_OK || code == SQLITE_BUSY else { throw DatabaseError(connection.handle, code: code) }
    }

    /// Replaces the contents of `destination` with those of this database, in one transaction.
    ///
    /// Other processes can write this database before and after, but not meanwhile.
    ///
    /// Source: SQLite, "Online Backup API".
    public func copy(to destination: Database) throws(DatabaseError) {
        let target = destination.connection.handle
        guard let backup = sqlite3_backup_init(target, "main", connection.handle, "main") else {
            throw DatabaseError(target, code: sqlite3_errcode(target))
        }
        let step = sqlite3_backup_step(backup, -1)
        let end = sqlite3_backup_finish(backup)
        guard step == SQLITE_DONE, end == SQLITE_OK else {
            throw DatabaseError(target, code: end == SQLITE_OK ? step : end)
        }
    }

    /// Calls `body` in the current transaction, and then undoes its changes.
    public func rehearse<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try run("SAVEPOINT rehearsal")
        let value = try body(self)
        try run("ROLLBACK TO rehearsal")
        try run("RELEASE rehearsal")
        return value
    }

    /// Calls `body` in a transaction, which is rolled back if `body` throws an error.
    func transaction<Value>(_ begin: StaticString, _ body: (Database) throws -> Value) throws -> Value {
        try run(begin)
        do {
            let value = try body(self)
            try run("COMMIT")
            return value
        } catch {
            // SQLite rolls back automatically after some errors, such as a full disk. If this rollback fails, the error
            // is ignored here, because the next use of the connection fails too.
            if sqlite3_get_autocommit(connection.handle) == 0 { try? run("ROLLBACK") }
            throw error
        }
    }
}

// MARK: - Statements

extension Database {
    /// Calls `body` with the prepared statement for `sql`.
    ///
    /// If an outer call is still running this statement, another statement is prepared for the call.
    private func withStatement(_ sql: StaticString, _ body: (OpaquePointer) throws -> Void) throws {
        let key = sql.utf8Start
        if let running = preparedStatements[key], sqlite3_stmt_busy(running) != 0 {
            let another = try prepare(sql)
            defer { sqlite3_finalize(another) }
            return try body(another)
        }
        let statement = try preparedStatements[key] ?? prepare(sql)
        preparedStatements[key] = statement
        defer { sqlite3_reset(statement) }
        try body(statement)
    }

    private func prepare(_ sql: StaticString) throws(DatabaseError) -> OpaquePointer {
        let text = UnsafeRawPointer(sql.utf8Start).assumingMemoryBound(to: CChar.self)
        return try connection.prepare(text, count: sql.utf8CodeUnitCount)
    }

    private func bind(_ values: [any DatabaseValue], to statement: OpaquePointer) throws(DatabaseError) {
        for (index, value) in values.enumerated() {
            let code = value.bind(to: DatabaseParameter(statement: statement, index: Int32(index + 1)))
            guard code == SQLITE_OK else { throw DatabaseError(connection.handle, code: code) }
        }
    }
}

// MARK: - Connections

/// A connection to a database, which the owner must close.
struct SQLiteConnection {
    let handle: OpaquePointer

    /// Opens a file by its path or URI, with the flags of `sqlite3_open_v2`.
    init(path: String, flags: Int32) throws(DatabaseError) {
        var opened: OpaquePointer?
        let code = sqlite3_open_v2(path, &opened, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nil)
        guard code == SQLITE_OK, let opened else {
            defer { sqlite3_close_v2(opened) }
            throw DatabaseError(opened, code: code)
        }
        handle = opened
    }

    /// Finalizes all statements, closes the connection, and returns the result code.
    @discardableResult
    func close() -> Int32 {
        while let statement = sqlite3_next_stmt(handle, nil) { sqlite3_finalize(statement) }
        return sqlite3_close_v2(handle)
    }

    /// Runs statements that have no parameters, ignoring the rows that they return.
    func run(_ script: String) throws(DatabaseError) {
        let code = sqlite3_exec(handle, script, nil, nil, nil)
        guard code == SQLITE_OK else { throw DatabaseError(handle, code: code) }
    }

    /// Prepares the statement in the first `count` bytes of `sql`, which is run many times.
    func prepare(_ sql: UnsafePointer<CChar>, count: Int) throws(DatabaseError) -> OpaquePointer {
        var statement: OpaquePointer?
        let code = sqlite3_prepare_v3(handle, sql, Int32(count), UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
        guard code == SQLITE_OK, let statement else { throw DatabaseError(handle, code: code) }
        return statement
    }

    /// Advances a statement, and returns whether there is another row.
    func step(_ statement: OpaquePointer) throws(DatabaseError) -> Bool {
        let code = sqlite3_step(statement)
        switch code & 0xFF {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default: throw DatabaseError(handle, code: code)
        }
    }
}

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
