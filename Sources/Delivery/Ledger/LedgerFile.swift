import Bytes
import Files
import FoundationEssentials
import Glibc
import SQLite

/// Opens the file of a ledger and tells what is wrong with one.
enum LedgerFile {
    /// Opens a ledger for writing, and makes it in the empty file that whoever has its lock finds or made.
    ///
    /// Each state that the making passes through is taken for what it is, so that the next job goes on where one was killed
    /// or found the disk full. The write-ahead log makes a commit one `fsync`, which `synchronous = FULL` does not leave out.
    static func openForWriting(_ path: String) throws(LedgerError) -> DatabaseFile {
        let place = try LedgerPath.openingPath(of: try LedgerPath.resolved(path), path)
        // Looked at before anything is changed, even its mode: it may be another program's file.
        _ = try openExisting(place, path)
        // For the owner alone: it names clients.
        guard chmod(place, 0o600) == 0 else { throw .file(FileError(.open, path)) }
        return try translatingErrors(path) {
            let file = try DatabaseFile(path: sqliteName(of: place), .writing)
            try file.withoutTransaction {
                try $0.run(
                    script: """
                        PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -16000;
                        PRAGMA wal_autocheckpoint = \(checkpointPages)
                        """)
            }
            try LedgerSchema.migrate(file)
            try LedgerPath.record(place, in: file)
            return file
        }
    }

    /// How many pages the write-ahead log has, 16 MiB, before it is written into the file. Keys are hashes, so that each group
    /// changes pages everywhere: the longer the log, the more of these changes are to pages that it has already.
    private static let checkpointPages = 4096

    /// Opens a ledger that exists for reading; a job may be writing it.
    static func openForReading(_ path: String) throws(LedgerError) -> DatabaseFile {
        guard access(path, F_OK) == 0 else { throw .missing(path: path) }
        guard try isRegular(path) else { throw .notAFile(path: path) }
        guard access(path, R_OK) == 0 else { throw .file(FileError(.open, path)) }
        let place = try LedgerPath.openingPath(of: try LedgerPath.resolved(path), path)
        guard let file = try openExisting(place, path) else { throw .missing(path: path) }
        return file
    }

    /// Whether a file is a ledger. One whose making was interrupted is none.
    static func exists(_ path: String) throws(LedgerError) -> Bool {
        guard access(path, F_OK) == 0 else { return false }
        return try openExisting(try LedgerPath.openingPath(of: try LedgerPath.resolved(path), path), path) != nil
    }

    /// A pipe would be waited for.
    private static func isRegular(_ path: String) throws(LedgerError) -> Bool {
        var status = stat()
        guard stat(path, &status) == 0 else { throw .file(FileError(.open, path)) }
        return status.st_mode & S_IFMT == S_IFREG
    }

    /// Opens a ledger for reading; nil for a file that is to become one.
    private static func openExisting(_ place: String, _ path: String) throws(LedgerError) -> DatabaseFile? {
        try translatingErrors(path) {
            do {
                return try openChecked(place, path, .reading)
            } catch let error as DatabaseError
                where error.kind == .notAllowed && isRecoverable(place)
            {
                // SQLite undoes what a killed job began, and has to write for that.
                return try openChecked(place, path, .writing)
            }
        }
    }

    private static func openChecked(_ place: String, _ path: String, _ access: DatabaseFile.Access) throws
        -> DatabaseFile?
    {
        let file = try DatabaseFile(path: sqliteName(of: place, isReadOnly: access == .reading), access)
        return try file.read { try isLedger($0, path) } ? file : nil
    }

    /// Whether a file may be written to for its recovery: a ledger, or the first page of one. Nothing is undone in another
    /// program's file.
    ///
    /// Source: SQLite, "Database File Format", section 1.3: the application id stands at byte 68 of a header of 100.
    private static func isRecoverable(_ path: String) -> Bool {
        // Opening the ledger without recovery reports the error.
        guard access(path, W_OK) == 0, let file = try? InputFile(path: path),
            let header = try? ByteSource(file).bytes(at: 0, count: pageSize + 1)
        else { return false }
        guard header.count >= 100 else { return true }
        let identifier = header[68..<72].reduce(0) { $0 << 8 | Int($1) }
        return identifier == LedgerSchema.applicationID || identifier == 0 && header.count <= pageSize
    }

    /// The size of SQLite's pages, which is the default.
    private static let pageSize = 4096

    /// The name of a file for SQLite, which takes what begins with `file:` for an address.
    ///
    /// Where no file can be made beside a ledger, and none was left there, it is read as one that cannot change.
    private static func sqliteName(of path: String, isReadOnly: Bool = false) -> String {
        let folder = LedgerPath.folder(of: path)
        let isFixed = isReadOnly && access(folder, W_OK) != 0 && access(path + "-wal", F_OK) != 0
        if isFixed { return immutableURI(of: path) }
        return path.hasPrefix("file:") ? "./\(path)" : path
    }

    /// The name for SQLite of a file that is read as one that cannot change.
    static func immutableURI(of path: String) -> String {
        var name: [UInt8] = []
        for byte in path.utf8 {
            if byte == UInt8(ascii: "/") {
                name.append(byte)
            } else {
                PercentEncoding.append(formValue: CollectionOfOne(byte), to: &name)
            }
        }
        return "file:\(String(decoding: name, as: UTF8.self))?immutable=1"
    }

    /// Runs a body; says in this program's words what SQLite has to say.
    static func translatingErrors<Value>(_ path: String, _ body: () throws -> Value) throws(LedgerError) -> Value {
        do {
            return try body()
        } catch let error as LedgerError {
            throw error
        } catch let error as FileError {
            throw .file(error)
        } catch let error as DatabaseError {
            switch error.kind {
            case .damaged: throw .damaged(path: path, reason: error.message)
            case .notADatabase: throw .notALedger(path: path)
            case .full: throw .storage(path: path, reason: "the disk is full", isFull: true)
            case .notAllowed:
                throw .file(FileError(.open, path, code: access(path, W_OK) == 0 ? EACCES : errno))
            case .other: throw .storage(path: path, reason: error.message, isFull: false)
            }
        } catch {
            throw .storage(path: path, reason: "\(error)", isFull: false)
        }
    }

    /// Makes the folder of a ledger where it is missing, for the owner alone.
    static func createFolder(of path: String) throws(LedgerError) {
        let folder = LedgerPath.folder(of: path)
        guard access(folder, F_OK) != 0 else { return }
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw .file(FileError(.create, folder))
        }
    }

    /// Whether a database is a ledger; if not, it is one whose making has only begun.
    private static func isLedger(_ db: Database, _ path: String) throws -> Bool {
        guard try db.first("PRAGMA application_id") == LedgerSchema.applicationID else {
            guard try isUninitialized(db) else { throw LedgerError.notALedger(path: path) }
            return false
        }
        if try LedgerSchema.isNewer(db) { throw LedgerError.newerVersion(path: path) }
        if let fault: String = try db.first("PRAGMA quick_check(1)"), fault != "ok" {
            throw LedgerError.damaged(path: path, reason: fault)
        }
        return true
    }

    /// Whether a database holds nothing, or nothing but the empty list of changes of form, which is made first.
    private static func isUninitialized(_ db: Database) throws -> Bool {
        let others: Int? = try db.first(
            "SELECT count(*) FROM sqlite_schema WHERE tbl_name <> ?", [LedgerSchema.migrationTable])
        return try others == 0 && LedgerSchema.appliedMigrations(in: db).isEmpty
    }
}
