import Files
import Foundation
import GRDB

/// Opens the file of a ledger and tells what is wrong with one.
enum LedgerFile {
    /// Opens a ledger for writing, and makes it if there is none.
    ///
    /// The write-ahead log makes a commit one `fsync`, which `synchronous = FULL` does not leave out.
    static func openForWriting(_ path: String) throws(LedgerError) -> DatabaseQueue {
        // Looked at before anything is changed, even its mode: it may be another program's file.
        if access(path, F_OK) == 0 { _ = try existing(path) }
        try makePrivate(path)
        return try translating(path) {
            var configuration = Configuration()
            configuration.journalMode = .wal
            configuration.busyMode = .timeout(5)
            configuration.prepareDatabase { try $0.execute(sql: "PRAGMA synchronous = FULL") }
            let queue = try DatabaseQueue(path: name(of: path), configuration: configuration)
            try LedgerSchema.migrator.migrate(queue)
            return queue
        }
    }

    /// Opens a ledger that exists for reading; a job may be writing it.
    static func openForReading(_ path: String) throws(LedgerError) -> DatabaseQueue {
        guard access(path, F_OK) == 0 else { throw .missing(path: path) }
        guard access(path, R_OK) == 0 else { throw .file(FileError(.open, path)) }
        guard let queue = try existing(path) else { throw .missing(path: path) }
        return queue
    }

    /// Opens a ledger for reading; nil for a file that is to become one.
    private static func existing(_ path: String) throws(LedgerError) -> DatabaseQueue? {
        try translating(path) {
            var configuration = Configuration()
            configuration.readonly = true
            configuration.busyMode = .timeout(5)
            let queue = try DatabaseQueue(path: name(of: path, isReadOnly: true), configuration: configuration)
            return try queue.read { try isLedger($0, path) } ? queue : nil
        }
    }

    /// The name of a file for SQLite, which takes what begins with `file:` for an address.
    ///
    /// Where no file can be made beside a ledger, and none was left there, it is read as one that cannot change.
    private static func name(of path: String, isReadOnly: Bool = false) -> String {
        let folder = (path as NSString).deletingLastPathComponent
        let isFixed = isReadOnly && access(folder.isEmpty ? "." : folder, W_OK) != 0 && access(path + "-wal", F_OK) != 0
        if isFixed, let name = path.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) {
            return "file:\(name)?immutable=1"
        }
        return path.hasPrefix("file:") ? "./\(path)" : path
    }

    /// Runs a body; says in this program's words what SQLite has to say.
    static func translating<Value>(_ path: String, _ body: () throws -> Value) throws(LedgerError) -> Value {
        do {
            return try body()
        } catch let error as LedgerError {
            throw error
        } catch let error as DatabaseError {
            switch error.resultCode {
            case .SQLITE_CORRUPT: throw .damaged(path: path, reason: error.message ?? "\(error)")
            case .SQLITE_NOTADB: throw .notALedger(path: path)
            case .SQLITE_FULL: throw .storage(path: path, reason: "the disk is full", isFull: true)
            case .SQLITE_READONLY, .SQLITE_CANTOPEN, .SQLITE_PERM, .SQLITE_AUTH:
                throw .file(FileError(.open, path, code: access(path, W_OK) == 0 ? EACCES : errno))
            default: throw .storage(path: path, reason: error.message ?? "\(error)", isFull: false)
            }
        } catch {
            throw .storage(path: path, reason: "\(error)", isFull: false)
        }
    }

    /// Makes the folder of a ledger where it is missing, for the owner alone.
    static func makeFolder(of path: String) throws(LedgerError) {
        let folder = (path as NSString).deletingLastPathComponent
        guard !folder.isEmpty, access(folder, F_OK) != 0 else { return }
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw .file(FileError(.create, folder))
        }
    }

    /// Makes the file, for the owner alone: it names clients.
    private static func makePrivate(_ path: String) throws(LedgerError) {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .file(FileError(.open, path)) }
        defer { close(descriptor) }
        guard fchmod(descriptor, 0o600) == 0 else { throw .file(FileError(.open, path)) }
    }

    /// Whether a database is a ledger; if not, it is empty.
    private static func isLedger(_ db: Database, _ path: String) throws -> Bool {
        guard try Int.fetchOne(db, sql: "PRAGMA application_id") == LedgerSchema.applicationID else {
            // A job that was killed before its first transaction leaves an empty one.
            let tables = try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_master")
            guard tables == 0 else { throw LedgerError.notALedger(path: path) }
            return false
        }
        if try LedgerSchema.migrator.hasBeenSuperseded(db) { throw LedgerError.newer(path: path) }
        let faults = try String.fetchAll(db, sql: "PRAGMA quick_check(1)")
        if let fault = faults.first, fault != "ok" { throw LedgerError.damaged(path: path, reason: fault) }
        return true
    }
}
