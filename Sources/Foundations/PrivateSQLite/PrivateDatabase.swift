import CSQLite
import Files

/// A connection to a copy of a database that is not to be trusted.
///
/// SQLite sees the three files of the copy and no other, whatever the database says. It opens them for writing, for a
/// hot journal has to be rolled back, and a write-ahead log to be read without its index; statements cannot write.
/// Schemas are not trusted, triggers, views, extensions, attached databases and temporary files are off, sizes and steps
/// are limited. Source: "Leanplum (Mozilla MMA): stored requests and the `multi` upload", section E.2.
///
/// SQLite serializes the calls, so the connection may be handed from thread to thread.
public final class PrivateDatabase: @unchecked Sendable {
    private let files: DatabaseCopy
    private let copy: UnsafeMutablePointer<csqlite_copy>
    let connection: OpaquePointer?

    /// Opens a copy.
    ///
    /// - Parameter table: the one table that may be read.
    /// - Throws: ``PrivateDatabaseError``; that the file is no database may only show when it is read.
    public init(_ files: DatabaseCopy, table: StaticString) throws(PrivateDatabaseError) {
        self.files = files
        copy = .allocate(capacity: 1)
        copy.initialize(to: csqlite_copy())
        copy.pointee.descriptors = (files.main.number, files.journal.number, files.writeAheadLog.number)
        copy.pointee.exists = (1, files.hasJournal ? 1 : 0, files.hasWriteAheadLog ? 1 : 0)
        copy.pointee.size_limit = sqlite3_int64(files.sizeLimit)
        copy.pointee.budget = sqlite3_int64(Self.leastBudget + files.size / Self.bytesPerBudget)
        copy.pointee.table = UnsafeRawPointer(table.utf8Start).assumingMemoryBound(to: CChar.self)
        var connection: OpaquePointer?
        let code = csqlite_open(copy, &connection)
        self.connection = connection
        guard code == SQLITE_OK else { throw PrivateDatabaseError(code) }
    }

    deinit {
        csqlite_close(copy, connection)
        copy.deinitialize(count: 1)
        copy.deallocate()
    }

    /// Thousands of steps: seconds at most.
    private static let leastBudget = 100_000
    /// A row has at least eight bytes and takes some ten steps.
    private static let bytesPerBudget = 256
}
