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
    private let missingOffsets: UnsafeMutableBufferPointer<sqlite3_int64>
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
        missingOffsets = .allocate(capacity: 2 * databaseCopy.missingRanges.count)
        _ = missingOffsets.initialize(
            fromContentsOf: databaseCopy.missingRanges.flatMap { [Int64($0.lowerBound), Int64($0.upperBound)] })
        copyPointer.pointee.missing = UnsafePointer(missingOffsets.baseAddress)
        copyPointer.pointee.missing_count = sqlite3_int64(databaseCopy.missingRanges.count)
        copyPointer.pointee.table = UnsafeRawPointer(table.utf8Start).assumingMemoryBound(to: CChar.self)
        var connection: OpaquePointer?
        let code = csqlite_open(copyPointer, &connection)
        self.connection = connection
        guard code == SQLITE_OK else { throw PrivateDatabaseError(code: code) }
    }

    deinit {
        csqlite_close(copyPointer, connection)
        copyPointer.deinitialize(count: 1)
        copyPointer.deallocate()
        missingOffsets.deallocate()
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

/// A prepared query that keeps its database open.
public struct PrivateStatement: ~Copyable {
    private let database: PrivateDatabase
    fileprivate let statement: OpaquePointer?

    /// The storage class of a value.
    public enum Kind: Sendable {
        case null, integer, real, text, blob
    }

    /// Prepares a query that consists of one statement.
    ///
    /// - Throws: ``PrivateDatabaseError``, for example if the schema of the database is damaged.
    public init(_ query: String, in database: PrivateDatabase) throws(PrivateDatabaseError) {
        var statement: OpaquePointer?
        let code = sqlite3_prepare_v2(database.connection, query, -1, &statement, nil)
        self.database = database
        self.statement = statement
        guard code == SQLITE_OK else { throw PrivateDatabaseError(code: code) }
    }

    deinit { sqlite3_finalize(statement) }

    /// Restarts the query with `number` as the value of its first parameter.
    public func start(with number: Int64) throws(PrivateDatabaseError) {
        reset()
        let code = sqlite3_bind_int64(statement, 1, number)
        guard code == SQLITE_OK else { throw PrivateDatabaseError(code: code) }
    }

    /// Resets the query and releases the memory of the current row.
    public func reset() {
        // The result code repeats the error of the last step, which was thrown already.
        sqlite3_reset(statement)
    }

    /// Advances to the next row, and returns whether there is one.
    ///
    /// - Throws: ``PrivateDatabaseError``. The rows that were read before remain valid.
    public func step() throws(PrivateDatabaseError) -> Bool {
        switch sqlite3_step(statement) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code: throw PrivateDatabaseError(code: code)
        }
    }

    /// Returns the storage class of a column of the current row.
    public func kind(_ column: Int32) -> Kind {
        switch sqlite3_column_type(statement, column) {
        case SQLITE_INTEGER: .integer
        case SQLITE_FLOAT: .real
        case SQLITE_TEXT: .text
        case SQLITE_BLOB: .blob
        default: .null
        }
    }

    /// Returns a column of the current row as an integer.
    public func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(statement, column) }

    /// Returns the bytes of a column of the current row, which are empty for NULL.
    ///
    /// A text need not be valid UTF-8.
    public func bytes(_ column: Int32) -> [UInt8] {
        // SQLite requires this order, because the length is known only after the value is converted.
        let start =
            kind(column) == .text
            ? sqlite3_column_text(statement, column).map { UnsafeRawPointer($0) }
            : sqlite3_column_blob(statement, column)
        return [UInt8](UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column))))
    }

    /// Returns a column of the current row as a string, with U+FFFD in place of malformed UTF-8.
    public func text(_ column: Int32) -> String { String(decoding: bytes(column), as: UTF8.self) }

    /// Returns the number of bytes of a column of the current row, which is 0 for NULL.
    public func byteCount(_ column: Int32) -> Int { Int(sqlite3_column_bytes(statement, column)) }
}

/// A copy of a database, its journal and its write-ahead log in three unnamed files.
public struct DatabaseCopy: Sendable {
    let main: SpoolFile
    let journal: SpoolFile
    let writeAheadLog: SpoolFile
    let hasJournal: Bool
    let hasWriteAheadLog: Bool
    /// The total size of the files, in bytes.
    public let size: Int
    /// The maximum size of each file, in bytes.
    let sizeLimit: Int
    /// The ranges of the bytes that are missing from the database, in ascending order.
    ///
    /// SQLite reports damage if it needs them.
    let missingRanges: [Range<Int>]

    /// Creates a copy from the copied files.
    ///
    /// An empty file is created for a missing journal or write-ahead log, because SQLite may write to it.
    ///
    /// - Parameters:
    ///   - main: The copy of the database.
    ///   - journal: The copy of the journal, or `nil` if there is none.
    ///   - writeAheadLog: The copy of the write-ahead log, or `nil` if there is none.
    ///   - size: The total size of the files, in bytes.
    ///   - sizeLimit: The maximum size of each file while SQLite uses it, in bytes.
    ///   - missingRanges: The ranges of the bytes that are missing from the database, in ascending order.
    /// - Throws: `FileError` if an empty file cannot be created.
    public init(
        main: SpoolFile, journal: SpoolFile?, writeAheadLog: SpoolFile?, size: Int, sizeLimit: Int,
        missingRanges: [Range<Int>] = []
    ) throws(FileError) {
        self.main = main
        self.missingRanges = missingRanges
        self.sizeLimit = sizeLimit
        hasJournal = journal != nil
        hasWriteAheadLog = writeAheadLog != nil
        if let journal { self.journal = journal } else { self.journal = try SpoolFile(in: main.folder) }
        if let writeAheadLog {
            self.writeAheadLog = writeAheadLog
        } else {
            self.writeAheadLog = try SpoolFile(in: main.folder)
        }
        self.size = size
    }
    /// Whether the journal begins with a valid signature, which SQLite overwrites when it rolls back the journal.
    public var hasJournalSignature: Bool {
        get throws(FileError) {
            let start = try [UInt8](capacity: Self.journalSignature.count) { output throws(FileError) in
                try journal.read(at: 0, into: &output)
            }
            return start == Self.journalSignature
        }
    }

    private static let journalSignature: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
}
