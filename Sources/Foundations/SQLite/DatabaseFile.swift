import CSQLite
import Synchronization

/// The file of a database, with one connection that pieces of work take turns with.
///
/// ```swift
/// let file = try DatabaseFile(path: path, .writing)
/// try file.write { try $0.run("CREATE TABLE items (key BLOB PRIMARY KEY) WITHOUT ROWID") }
/// let count: Int? = try file.read { try $0.first("SELECT count(*) FROM items") }
/// ```
///
/// A class, because it owns a connection that several hold on to.
public final class DatabaseFile: Sendable {
    /// What a file is opened for.
    public enum Access: Sendable {
        /// For reading alone; the file has to exist.
        case reading
        /// For reading and writing; the file is made if there is none.
        case writing
    }

    private let connection: Mutex<Connection>

    // Sendable although a database is not: the lock lends it to one thread at a time.
    /// The connection; nil once it is closed.
    private struct Connection: @unchecked Sendable {
        var database: Database?
    }

    /// Opens a file.
    /// - Parameters:
    ///   - path: the file, or a URI that begins with `file:`.
    ///   - milliseconds: how long to wait for others that have it locked.
    public init(path: String, _ access: Access, patience milliseconds: Int32 = 5000) throws(DatabaseError) {
        connection = Mutex(Connection(database: try Database(path: path, access, patience: milliseconds)))
    }

    /// Reads in one transaction: all that the body reads is of one state of the file.
    /// - Throws: ``DatabaseError``, and what `body` throws.
    public func read<Value: Sendable>(_ body: (Database) throws -> Value) throws -> Value {
        try withoutTransaction { try $0.transaction("BEGIN DEFERRED", body) }
    }

    /// Reads and writes in one transaction; nothing is changed if the body throws.
    /// - Throws: ``DatabaseError``, and what `body` throws.
    public func write<Value: Sendable>(_ body: (Database) throws -> Value) throws -> Value {
        try withoutTransaction { try $0.transaction("BEGIN IMMEDIATE", body) }
    }

    /// Lends the database outside of any transaction, for what SQLite does only there.
    /// - Throws: ``DatabaseError`` once it is closed, and what `body` throws.
    public func withoutTransaction<Value: Sendable>(_ body: (Database) throws -> Value) throws -> Value {
        try connection.withLock { connection in
            guard let database = connection.database else { throw DatabaseError(code: SQLITE_MISUSE) }
            return try body(database)
        }
    }

    /// Closes the file, after the work that is being done with it. The last one that closes a file with a write-ahead log
    /// writes the log into it.
    public func close() {
        connection.withLock { $0.database = nil }
    }
}
