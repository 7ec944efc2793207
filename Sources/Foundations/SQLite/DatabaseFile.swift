import CSQLite
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
    /// The kind of access to a file.
    public enum Access: Sendable {
        /// Read-only access to an existing file.
        case reading
        /// Read and write access to a file that is created if it does not exist.
        case writing
    }

    private let connection: Mutex<Connection>

    /// The database, or `nil` once it is closed.
    ///
    /// The structure is `Sendable` although `Database` is not, because the lock gives access to one thread at a time.
    private struct Connection: @unchecked Sendable {
        var database: Database?
    }

    /// Opens a file by its path, or by a URI that begins with `file:`.
    public init(path: String, _ access: Access) throws(DatabaseError) {
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
