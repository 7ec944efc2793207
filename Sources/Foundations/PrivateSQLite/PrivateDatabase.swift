import CSQLite
import Files

/// A connection to a copy of an untrusted database.
///
/// SQLite can access only the three files of the copy. It opens them for writing, because it has to roll back a hot
/// journal and to read a write-ahead log that has no index. Statements cannot write. The schema is not trusted.
/// Triggers, views, extensions, attached databases and temporary files are disabled, and sizes and steps are limited.
///
/// SQLite serializes the calls, so that several threads may use the connection.
///
/// Source: "Leanplum (Mozilla MMA): stored requests and the `multi` upload", section E.2.
public final class PrivateDatabase: @unchecked Sendable {
    private let files: DatabaseCopy
    private let copy: UnsafeMutablePointer<csqlite_copy>
    let connection: OpaquePointer?

    /// Opens a copy of a database such that only `table` can be read.
    ///
    /// - Throws: ``PrivateDatabaseError``. A file that is not a database may be detected only when it is read.
    public init(_ files: DatabaseCopy, table: StaticString) throws(PrivateDatabaseError) {
        self.files = files
        copy = .allocate(capacity: 1)
        copy.initialize(to: csqlite_copy())
        copy.pointee.descriptors = (files.main.number, files.journal.number, files.writeAheadLog.number)
        copy.pointee.exists = (1, files.hasJournal ? 1 : 0, files.hasWriteAheadLog ? 1 : 0)
        copy.pointee.size_limit = sqlite3_int64(files.sizeLimit)
        copy.pointee.budget = sqlite3_int64(Self.minimumBudget + files.size / Self.bytesPerBudget)
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

    /// The number of steps, in thousands, that SQLite's virtual machine may execute for a database of any size.
    ///
    /// These steps take a few seconds at most.
    private static let minimumBudget = 100_000
    /// The number of bytes by which a database must be larger to allow 1,000 more steps.
    ///
    /// A row has at least 8 bytes and takes about 10 steps.
    private static let bytesPerBudget = 256
}
