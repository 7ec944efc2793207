import CSQLite
import Files

/// A connection to a copy of an untrusted database.
///
/// SQLite can access only the three files of the copy. SQLite opens them for writing, because it has to roll back a hot
/// journal and to read a write-ahead log that has no index. Statements cannot write. The schema is not trusted.
/// Triggers, views, extensions, attached databases and temporary files are disabled, and sizes and steps are limited.
///
/// SQLite serializes the calls, so that several threads may use the connection.
///
/// Source: "Leanplum (Mozilla MMA): stored requests and the `multi` upload", section E.2.
public final class PrivateDatabase: @unchecked Sendable {
    private let databaseCopy: DatabaseCopy
    private let copyPointer: UnsafeMutablePointer<csqlite_copy>
    let connection: OpaquePointer?

    /// Opens `databaseCopy` for reading the schema and the table `table`, but no other tables.
    ///
    /// - Throws: ``PrivateDatabaseError``. A file that is not a database may be detected only when it is read.
    public init(_ databaseCopy: DatabaseCopy, table: StaticString) throws(PrivateDatabaseError) {
        self.databaseCopy = databaseCopy
        copyPointer = .allocate(capacity: 1)
        copyPointer.initialize(to: csqlite_copy())
        copyPointer.pointee.descriptors = (
            databaseCopy.main.descriptorNumber, databaseCopy.journal.descriptorNumber,
            databaseCopy.writeAheadLog.descriptorNumber
        )
        copyPointer.pointee.exists = (1, databaseCopy.hasJournal ? 1 : 0, databaseCopy.hasWriteAheadLog ? 1 : 0)
        copyPointer.pointee.size_limit = sqlite3_int64(databaseCopy.sizeLimit)
        copyPointer.pointee.budget = sqlite3_int64(
            Self.minimumStepBudget + databaseCopy.size / Self.bytesPerThousandSteps)
        copyPointer.pointee.table = UnsafeRawPointer(table.utf8Start).assumingMemoryBound(to: CChar.self)
        var connection: OpaquePointer?
        let code = csqlite_open(copyPointer, &connection)
        self.connection = connection
        guard code == SQLITE_OK else { throw PrivateDatabaseError(code) }
    }

    deinit {
        csqlite_close(copyPointer, connection)
        copyPointer.deinitialize(count: 1)
        copyPointer.deallocate()
    }

    /// The number of steps, in thousands, that SQLite's virtual machine may execute even for the smallest database.
    ///
    /// These steps take a few seconds at most.
    private static let minimumStepBudget = 100_000
    /// The number of bytes of a database for which 1,000 additional steps are allowed.
    ///
    /// A row has at least 8 bytes and takes about 10 steps.
    private static let bytesPerThousandSteps = 256
}
