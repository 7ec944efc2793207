import Files
import Glibc
import JSONText

/// The right to write a ledger: advisory locks that end with the process however that ends.
///
/// One is on the ledger itself, for a file may have several names. The other is on a file beside it: it keeps those apart that
/// are about to make the ledger, its contents say who has the lock, and earlier versions know no other. They are a note for
/// people; the locks are what counts.
struct LedgerLock: ~Copyable, Sendable {
    private let lockFile: LockedFile
    private let ledgerFile: LockedFile

    /// Takes the locks; makes an empty file where there is no ledger.
    /// - Parameters:
    ///   - place: where the ledger is, as ``LedgerPath/resolved(_:)`` has it.
    ///   - ledger: its path for messages.
    /// - Throws: ``LedgerError``: `locked` while somebody else has it.
    init(_ place: String, of ledger: String, started: String) throws(LedgerError) {
        let lockFile = try Self.acquireLockFile(place, of: ledger)
        let ledgerFile = try Self.acquireLedgerFile(place, of: ledger)
        do throws(FileError) {
            try lockFile.replaceContents(by: Self.holderNote(started: started), place + ".lock")
        } catch {
            throw .file(error)
        }
        self.lockFile = lockFile
        self.ledgerFile = ledgerFile
    }

    /// Returns whether a path still leads to the ledger that is locked.
    func locksFile(at path: String) -> Bool { ledgerFile.isStill(at: path) }

    private static func acquireLockFile(_ place: String, of ledger: String) throws(LedgerError) -> LockedFile {
        let path = place + ".lock"
        do throws(FileError) {
            return try LockedFile(path, .whole)
        } catch {
            throw error.isLocked ? .locked(path: ledger, by: holder(path)) : .file(error)
        }
    }

    private static func acquireLedgerFile(_ place: String, of ledger: String) throws(LedgerError) -> LockedFile {
        do throws(FileError) {
            return try LockedFile(place, .beyondEnd)
        } catch {
            // Whoever has it came by another name, and left the note beside that.
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

    /// The name of the machine as the kernel has it.
    private static var host: String {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "" }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private static func holder(_ path: String) -> LedgerHolder? {
        // That somebody has the lock is reported without a name too.
        (try? InputFile(path: path).contents(limit: 64 << 10)).flatMap { LedgerHolder(note: $0) }
    }
}

extension LedgerHolder {
    /// Reads what a job wrote into the file of its lock; nil if it has not written all of it yet.
    public init?(note: [UInt8]) {
        guard let fields = try? JSONFields(note), let pid = fields.integer("pid"), let host = fields.text("host"),
            let started = fields.text("started")
        else { return nil }
        self.init(pid: pid, host: host, started: started)
    }
}
