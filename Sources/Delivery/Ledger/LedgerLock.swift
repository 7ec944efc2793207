import Files
import Glibc
import JSONText

/// The exclusive right to write a ledger.
///
/// The two advisory locks are released when the value is destroyed or the process ends. One lock is on the ledger
/// itself, because the file may have several names. The other lock is on a lock file in the same folder. This second
/// lock also protects the creation of the ledger, and it is the only lock that earlier versions of the program use. The
/// contents of the lock file are used only to identify the owner in messages.
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
        var object = CanonicalObject()
        object.set("host", string: host)
        object.set("pid", integer: Int(getpid()))
        object.set("started", string: started)
        return object.bytes + [UInt8(ascii: "\n")]
    }

    private static var host: String {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "" }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private static func holder(_ path: String) -> LedgerHolder? {
        // If the lock file cannot be read, the error is reported without the owner.
        (try? InputFile(path: path).contents(limit: 64 << 10)).flatMap { LedgerHolder(note: $0) }
    }
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
