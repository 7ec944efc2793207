import Bytes
import DeviceBackup
import Files
import SQLite

/// The rows of a manifest in either format.
///
/// The rows can be read several times. Only one row is in memory at a time.
enum ManifestRows {
    case database(ManifestDatabase)
    case binary(ByteSource)

    enum End: Equatable {
        case complete
        /// Rows are missing because of damage or the limit.
        ///
        /// The values are a case ID from "iOS backups", section 10, and a description.
        case incomplete(caseID: String, text: String)
    }

    /// Calls `body` with each row, in order, and returns whether the rows are complete.
    ///
    /// - Throws: ``BackupError`` if the manifest has an unknown version or contains no complete record, or `FileError`
    ///   if it cannot be read.
    func forEach(_ body: (ManifestRow) -> Void) throws -> End {
        switch self {
        case .database(let database): try Self.read(database, body)
        case .binary(let source): try Self.read(source, body)
        }
    }

    private static let tooManyRows = End.incomplete(
        caseID: "B34",
        text: "the manifest has more than \(InputLimits.backupRowCount) rows; the remaining rows are not read")

    private static func read(_ database: ManifestDatabase, _ body: (ManifestRow) -> Void) throws -> End {
        var count = 0
        let damage = try database.forEachRow { row in
            count += 1
            guard count <= InputLimits.backupRowCount else { return false }
            body(row)
            return true
        }
        guard count <= InputLimits.backupRowCount else { return tooManyRows }
        if let damage {
            return .incomplete(caseID: "B34", text: "the manifest is damaged after \(count.counted("row")): \(damage)")
        }
        return database.logFault.map { .incomplete(caseID: "B34", text: "the manifest: \($0)") } ?? .complete
    }

    private static func read(_ source: ByteSource, _ body: (ManifestRow) -> Void) throws -> End {
        var manifest = BinaryManifest()
        var offset = 0
        var count = 0
        while true {
            switch manifest.next() {
            case .row(let row):
                count += 1
                guard count <= InputLimits.backupRowCount else { return tooManyRows }
                body(row)
            case .notAManifest: throw BackupError("B44", "Manifest.mbdb has an unknown version")
            case .needsMore:
                let piece = try source.bytes(at: offset, count: min(1 << 20, source.count - offset))
                guard piece.isEmpty else {
                    offset += piece.count
                    manifest.feed(piece)
                    continue
                }
                guard manifest.hasIncompleteRecord else { return .complete }
                guard count > 0 else { throw BackupError("B44", "Manifest.mbdb has no complete record") }
                return .incomplete(
                    caseID: "B44",
                    text:
                        "Manifest.mbdb is truncated or damaged after \(count.counted("record")); later records are lost"
                )
            }
        }
    }
}

// MARK: - ManifestDatabase

/// A private copy of `Manifest.db`, the manifest since iOS 10.
///
/// Source: "iOS backups", sections 3 and 8.
struct ManifestDatabase {
    private let database: PrivateDatabase
    /// The maximum total length of the values that are read, in bytes.
    ///
    /// The rows of a manifest are shorter than the manifest, unless forged rows share pages, so that a short manifest has
    /// any amount of values.
    private let valueByteLimit: Int
    let logFault: WriteAheadLogFault?
    /// Whether the database is in the mode for write-ahead logs and has none.
    ///
    /// This is normal after the program that wrote the database has closed it. If not, the rows in the log are missing.
    let mayLackLog: Bool

    private static let headSize = 100
    private static let signature = Array("SQLite format 3\0".utf8)

    static func isDatabase(_ head: [UInt8]) -> Bool { head.starts(with: signature) }

    /// Copies a manifest and opens the copy.
    ///
    /// `isDecrypted` states whether `main` was decrypted. If so, an invalid database indicates a wrong key.
    init(
        _ main: ByteSource, journal: ByteSource? = nil, log: ByteSource? = nil, isDecrypted: Bool = false, spool: Spool
    ) throws {
        // Decrypting with a wrong key produces bytes that are not a database.
        let invalidDatabaseCase = isDecrypted ? "B27" : "B33"
        let sizes = [main, journal, log].map { $0?.count ?? 0 }
        guard sizes.allSatisfy({ $0 <= InputLimits.backupManifestSize }) else {
            throw BackupError(
                invalidDatabaseCase, "the manifest has more than \(InputLimits.backupManifestSize >> 30) GiB")
        }
        let size = sizes.reduce(0, +)
        valueByteLimit = 2 * size + 16 << 20
        let head = try main.bytes(at: 0, count: Self.headSize)
        guard Self.isDatabase(head), head.count == Self.headSize else {
            throw BackupError(invalidDatabaseCase, "the manifest is not a database")
        }
        // The journal or the log may contain the missing pages.
        guard journal != nil || log != nil || main.count >= Self.databaseSize(header: head) else {
            throw BackupError(invalidDatabaseCase, "the manifest ends before its last page")
        }
        mayLackLog = !isDecrypted && log == nil && head[18..<20].allSatisfy { $0 == 2 }
        logFault = try log.flatMap { log in try WriteAheadLogFault.find(in: log) }
        let folder = spool.folder
        try spool.checkCapacity(for: size)
        let copy = try DatabaseCopy(
            main: main.copied(to: folder), journal: journal?.copied(to: folder),
            writeAheadLog: log?.copied(to: folder), size: size, sizeLimit: InputLimits.backupManifestSize)
        let schema: String?
        do throws(PrivateDatabaseError) {
            database = try PrivateDatabase(copy, table: "Files")
            schema = try Self.schemaFault(of: database)
        } catch {
            if error.isNotADatabase { throw BackupError(invalidDatabaseCase, "the manifest is not a database") }
            throw Self.unreadableError("its schema cannot be read: \(error)")
        }
        if let schema { throw Self.unreadableError(schema) }
    }

    private static func unreadableError(_ words: String) -> BackupError {
        BackupError("B35", "the manifest cannot be read: \(words)")
    }

    /// Returns the size in bytes that the database header states, or 0 if the size is invalid.
    private static func databaseSize(header head: [UInt8]) -> Int {
        func number(_ range: Range<Int>) -> Int { head[range].reduce(0) { $0 << 8 | Int($1) } }
        // The page count is valid if both change counters are equal.
        guard number(24..<28) == number(92..<96) else { return 0 }
        let page = number(16..<18)
        return (page == 1 ? 65_536 : page) * number(28..<32)
    }
}

// MARK: - The schema

extension ManifestDatabase {
    private static let requiredColumns: Set<CapturedText> = ["fileid", "domain", "relativepath", "flags", "file"]

    /// Returns the reason why `Files` is not an ordinary table with the required columns, or `nil` if there is no such
    /// reason.
    ///
    /// Views are rejected, because a view can be read like a table, but its query could run forever.
    private static func schemaFault(of database: PrivateDatabase) throws(PrivateDatabaseError) -> String? {
        let objects = try PrivateStatement("SELECT name, type, sql FROM sqlite_schema", in: database)
        var count = 0
        var isTable = false
        while try objects.step() {
            guard objects.text(0) == "Files" else { continue }
            count += 1
            isTable = objects.text(1) == "table" && objects.text(2).hasPrefix("CREATE TABLE")
        }
        guard count == 1, isTable else { return "it has no ordinary table named Files" }
        let columns = try PrivateStatement("PRAGMA table_xinfo(Files)", in: database)
        var missing = Self.requiredColumns
        while try columns.step() {
            let name = CapturedText(columns.text(1)).lowercasedASCII()
            // 1 means hidden, 2 and 3 mean generated.
            guard columns.integer(6) == 0 else { return "the table Files has hidden or generated columns" }
            guard !["rowid", "oid", "_rowid_"].contains(name) else {
                return "the table Files has a column named \(name)"
            }
            missing.remove(name)
        }
        guard missing.isEmpty else { return "columns are missing in the table Files" }
        let tables = try PrivateStatement("PRAGMA table_list(Files)", in: database)
        while try tables.step() {
            guard tables.integer(4) == 0 else { return "the table Files has no row IDs" }
        }
        return nil
    }
}

// MARK: - Rows

extension ManifestDatabase {
    /// Calls `body` with each row, in the order of the row IDs, until `body` returns `false`.
    ///
    /// Returns a description of the damage that ended the rows early, or `nil` if there is none. The column `file` is
    /// read only for rows of app containers.
    fileprivate func forEachRow(_ body: (ManifestRow) -> Bool) throws(BackupError) -> String? {
        let statement: PrivateStatement
        do throws(PrivateDatabaseError) {
            statement = try PrivateStatement(
                "SELECT rowid, fileID, domain, relativePath, flags, file FROM Files NOT INDEXED ORDER BY rowid",
                in: database)
        } catch {
            return "\(error)"
        }
        var last: Int64?
        var budget = WorkBudget(nodes: .max, bytes: valueByteLimit)
        while true {
            do throws(PrivateDatabaseError) {
                guard try statement.step() else { return nil }
            } catch {
                guard !error.isResourceError else {
                    throw Self.unreadableError("its private copy cannot be read: \(error)")
                }
                return "\(error)"
            }
            // A damaged page that links to itself would repeat its rows forever.
            let rowid = statement.integer(0)
            if let last, rowid <= last { return "its rows are not in order" }
            last = rowid
            let byteCount = [1, 2, 3, 5].lazy.map { statement.byteCount($0) }.saturatedSum
            guard budget.reserve(nodes: 1, bytes: byteCount) else { return "its rows share pages" }
            if Self.isOfUnknownKind(statement) { continue }
            guard body(Self.row(statement)) else { return nil }
        }
    }

    /// Returns whether a row has no domain or no path, and flags that mean neither a file nor a folder nor a link.
    ///
    /// Manifests from real phones have a few such rows with the flags 16.
    private static func isOfUnknownKind(_ statement: borrowing PrivateStatement) -> Bool {
        guard statement.kind(2) == .null || statement.kind(3) == .null, statement.kind(4) == .integer else {
            return false
        }
        return ![0, 1, 2, 4].contains(statement.integer(4))
    }

    private static func row(_ statement: borrowing PrivateStatement) -> ManifestRow {
        let domain = text(2, statement)
        let isOfApp = domain?.starts(with: "AppDomain".utf8) ?? false
        let hasArchive =
            isOfApp && statement.kind(5) == .blob && statement.byteCount(5) <= InputLimits.backupFilePropertiesSize
        return ManifestRow(
            domain: domain ?? [], path: text(3, statement) ?? [0], fileID: text(1, statement) ?? [],
            flags: statement.kind(4) == .integer ? Int(statement.integer(4)) : 0,
            file: .archive(hasArchive ? statement.bytes(5) : nil))
    }

    /// Returns the bytes of the string in `column`, or `nil` if the value is not a string.
    ///
    /// If the string is too long, returns a single zero byte, which is not a valid domain, path or file name.
    private static func text(_ column: Int32, _ statement: borrowing PrivateStatement) -> [UInt8]? {
        guard statement.kind(column) == .text else { return nil }
        return statement.byteCount(column) <= 8192 ? statement.bytes(column) : [0]
    }
}
