import Bytes
import CLibrary
import Essentials
import Files
import JSONText
import SQLite

/// The functions that open ledger files and check that files are ledgers.
enum LedgerFile {
    /// Opens a ledger for writing, and initializes it if the file is empty.
    ///
    /// The caller must hold the lock. Every intermediate state of the initialization is recognized, so that a job can
    /// continue after an earlier job was killed. In WAL mode with `synchronous = FULL`, each commit needs one `fsync`.
    static func openForWriting(_ path: String) throws(LedgerError) -> DatabaseFile {
        let realPath = try openingPath(of: path)
        // The file is checked before anything is changed, even its permissions, because it may belong to another
        // program.
        _ = try openExisting(realPath, path)
        // Only the owner gets access, because the ledger contains client ids.
        guard chmod(realPath, 0o600) == 0 else { throw .file(FileError(.open, path)) }
        return try translatingErrors(path) {
            let file = try DatabaseFile(path: sqliteName(of: realPath), .writing)
            try file.withoutTransaction {
                try $0.run(
                    script: """
                        PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -16000;
                        PRAGMA wal_autocheckpoint = \(checkpointPages)
                        """)
            }
            try LedgerSchema.create(in: file)
            return file
        }
    }

    /// The size of the write-ahead log, in pages, at which it is copied into the database: 16 MiB.
    ///
    /// A large log saves writes. Keys are hashes, so each group changes pages throughout the database. A page that is
    /// changed several times while it is in the log is copied into the database only once.
    private static let checkpointPages = 4096

    /// Opens an existing ledger for reading, while a job may write it.
    static func openForReading(_ path: String) throws(LedgerError) -> DatabaseFile {
        guard access(path, F_OK) == 0 else { throw .missing(path: path) }
        try checkKind(path)
        guard access(path, R_OK) == 0 else { throw .file(FileError(.open, path)) }
        let realPath = try openingPath(of: path)
        guard let file = try openExisting(realPath, path) else { throw .missing(path: path) }
        return file
    }

    /// Returns whether the file at `path` exists and is an initialized ledger.
    static func exists(_ path: String) throws(LedgerError) -> Bool {
        guard access(path, F_OK) == 0 else { return false }
        return try openExisting(try openingPath(of: path), path) != nil
    }

    /// Checks that the file at `path`, if there is one, is a regular file.
    ///
    /// This is checked before the file is opened, because opening a pipe would block, and before a lock file is created.
    static func checkKind(_ path: String) throws(LedgerError) {
        var status = stat()
        guard stat(path, &status) == 0 else {
            guard errno == ENOENT else { throw .file(FileError(.open, path)) }
            return
        }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .notAFile(path: path) }
    }

    /// Opens the ledger at `realPath` for reading, or returns `nil` if the file is not initialized yet.
    private static func openExisting(_ realPath: String, _ path: String) throws(LedgerError) -> DatabaseFile? {
        try translatingErrors(path) {
            do {
                return try openChecked(realPath, path, .reading)
            } catch let error as DatabaseError
                where error.kind == .accessDenied && isRecoverable(realPath)
            {
                // To roll back the unfinished transaction of a killed job, SQLite needs write access.
                return try openChecked(realPath, path, .writing)
            }
        }
    }

    private static func openChecked(_ realPath: String, _ path: String, _ access: DatabaseAccess) throws
        -> DatabaseFile?
    {
        let file = try DatabaseFile(path: sqliteName(of: realPath, isReadOnly: access == .reading), access)
        return try file.read { try isLedger($0, path) } ? file : nil
    }

    /// Returns whether SQLite may write to the file at `path` to recover it.
    ///
    /// The file must be a ledger or the first page of a new ledger, because files of other programs must not be
    /// changed.
    ///
    /// Source: SQLite, "Database File Format", section 1.3: the header has 100 bytes, with the application id at 68.
    private static func isRecoverable(_ path: String) -> Bool {
        // If the file is not recoverable, opening the ledger without recovery reports the error.
        guard access(path, W_OK) == 0, let file = try? InputFile(path: path),
            let header = try? ByteSource(file).bytes(at: 0, count: pageSize + 1)
        else { return false }
        guard header.count >= 100 else { return true }
        let identifier = header[68..<72].reduce(0) { $0 << 8 | Int($1) }
        return identifier == LedgerSchema.applicationID || identifier == 0 && header.count <= pageSize
    }

    /// The default page size of SQLite, in bytes.
    private static let pageSize = 4096

    /// Returns the name by which SQLite can open the file at `path`.
    ///
    /// SQLite interprets names that begin with `file:` as URIs. If `isReadOnly` is `true`, the folder is not writable,
    /// and there is no write-ahead log, the name opens the file as an immutable database.
    private static func sqliteName(of path: String, isReadOnly: Bool = false) -> String {
        let folder = folder(of: path)
        let isImmutable = isReadOnly && access(folder, W_OK) != 0 && access(path + "-wal", F_OK) != 0
        if isImmutable { return immutableURI(of: path) }
        return path.hasPrefix("file:") ? "./\(path)" : path
    }

    private static func immutableURI(of path: String) -> String {
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

    /// Runs `body` and translates its errors into `LedgerError`.
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
            case .diskFull: throw .storage(path: path, reason: "the disk is full", isFull: true)
            case .accessDenied: throw .file(FileError(.open, path, code: access(path, W_OK) == 0 ? EACCES : errno))
            case .other: throw .storage(path: path, reason: error.message, isFull: false)
            }
        } catch {
            throw .storage(path: path, reason: "\(error)", isFull: false)
        }
    }

    /// Returns whether a database is an initialized ledger.
    ///
    /// - Throws: `LedgerError` if the database belongs to another program, has an unsupported version or is damaged.
    private static func isLedger(_ db: Database, _ path: String) throws -> Bool {
        guard try db.first("PRAGMA application_id") == LedgerSchema.applicationID else {
            guard try db.first("SELECT count(*) FROM sqlite_schema") == 0 else {
                throw LedgerError.notALedger(path: path)
            }
            return false
        }
        guard let version = try LedgerSchema.version(of: db) else { throw LedgerError.notALedger(path: path) }
        guard version == LedgerSchema.version else {
            throw LedgerError.unsupportedVersion(path: path, version: "\(version)")
        }
        if let fault: String = try db.first("PRAGMA quick_check(1)"), fault != "ok" {
            throw LedgerError.damaged(path: path, reason: fault)
        }
        return true
    }
}

// MARK: - Paths

extension LedgerFile {
    /// Returns the path of the folder that contains a ledger, ignoring slashes at the end of `path`.
    static func folder(of path: String) -> String { Path.folder(of: Path.withoutTrailingSlashes(path)) }

    /// Returns `path` without symbolic links, even if the file does not exist.
    static func resolved(_ path: String) throws(LedgerError) -> String {
        do throws(FileError) {
            do throws(FileError) {
                return try RealPath.resolved(path)
            } catch {
                var status = stat()
                // The target of a symbolic link is not created.
                guard error.isNotFound, lstat(path, &status) != 0 else { throw error }
                let linkPath = Path.withoutTrailingSlashes(path)
                let folder = try RealPath.resolved(Path.folder(of: linkPath))
                return folder == "/" ? "/\(Path.name(of: linkPath))" : "\(folder)/\(Path.name(of: linkPath))"
            }
        } catch {
            throw .file(FileError(.open, path, code: error.code))
        }
    }

    /// Returns the path by which the existing ledger at `path` is opened.
    ///
    /// SQLite names its log after the path of the database. If the same file were opened by another hard link, SQLite
    /// would not find the log, and its transactions would be lost. A file with several hard links is therefore rejected.
    ///
    /// Source: SQLite, "How To Corrupt An SQLite Database File", section 2.4, "Multiple links to the same file".
    static func openingPath(of path: String) throws(LedgerError) -> String {
        let resolved = try resolved(path)
        var status = stat()
        guard stat(resolved, &status) == 0 else { throw .file(FileError(.open, path)) }
        guard status.st_nlink == 1 else { throw .multipleNames(path: path) }
        return resolved
    }
}

/// The exclusive right to write a ledger.
///
/// The two advisory locks are released when the value is destroyed or the process ends. One lock is on the ledger
/// itself, because the file may have several names. The other lock is on a lock file in the same folder. This second
/// lock also protects the creation of the ledger. The contents of the lock file are used only to identify the owner in
/// messages.
struct LedgerLock: ~Copyable, Sendable {
    private let lockFile: LockedFile
    private let ledgerFile: LockedFile

    /// Acquires both locks, and creates an empty file if the ledger does not exist.
    init(_ realPath: String, of ledger: String, started: String) throws(LedgerError) {
        let lockFile = try Self.acquireLockFile(realPath, of: ledger)
        let ledgerFile = try Self.acquireLedgerFile(realPath, of: ledger)
        try LedgerFile.translatingErrors(ledger) {
            try lockFile.replaceContents(with: Self.holderNote(started: started), realPath + ".lock")
        }
        self.lockFile = lockFile
        self.ledgerFile = ledgerFile
    }

    /// Returns whether the file at `path` is the locked ledger.
    func locksFile(at path: String) -> Bool { ledgerFile.isLocated(at: path) }

    private static func acquireLockFile(_ realPath: String, of ledger: String) throws(LedgerError) -> LockedFile {
        let path = realPath + ".lock"
        do throws(FileError) {
            return try LockedFile(path, .wholeFile)
        } catch {
            throw error.isLocked ? .locked(path: ledger, by: holder(path)) : .file(error)
        }
    }

    private static func acquireLedgerFile(_ realPath: String, of ledger: String) throws(LedgerError) -> LockedFile {
        do throws(FileError) {
            return try LockedFile(realPath, .beyondEnd)
        } catch {
            // The owner opened the ledger by another name, and the name of its lock file is derived from that.
            if error.isLocked { throw .locked(path: ledger, by: nil) }
            throw error.code == ENOTSUP || error.code == EISDIR ? .notAFile(path: ledger) : .file(error)
        }
    }

    private static func holderNote(started: String) -> [UInt8] {
        let process = ProcessInfo.processInfo
        let object: CanonicalObject = ["host": process.hostName, "pid": Int(getpid()), "started": started]
        return object.bytes + [UInt8(ascii: "\n")]
    }

    private static func holder(_ path: String) -> LedgerHolder? {
        // If the lock file cannot be read, the error is reported without the owner.
        (try? InputFile(path: path).contents(limit: 64 << 10)).flatMap { LedgerHolder(note: $0) }
    }
}

/// The process that has locked a ledger for writing.
public struct LedgerHolder: Sendable, Equatable {
    /// The id of the process on its host.
    public let pid: Int
    /// The name of the host on which the process runs.
    public let host: String
    /// The time at which the process opened the ledger, in RFC 3339 format.
    public let started: String
}

extension LedgerHolder {
    /// Parses the contents of a lock file, or returns `nil` if they are incomplete or invalid.
    public init?(note: [UInt8]) {
        guard let fields = try? JSONFields(note), let pid = fields.count("pid"), let host = fields.text("host"),
            let started = fields.text("started")
        else { return nil }
        self.init(pid: pid, host: host, started: started)
    }
}
