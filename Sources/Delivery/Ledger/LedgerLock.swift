import Files
import Foundation
import JSONText

/// The right to write a ledger: an advisory lock on a file beside it, which ends with the process however that ends.
///
/// The file's contents say who has the lock. They are a note for people; the lock itself is what counts.
struct LedgerLock: ~Copyable, Sendable {
    private let descriptor: Int32

    /// Takes the lock.
    /// - Throws: ``LedgerError``: `held` while another process has it, `file` if the file cannot be made.
    init(_ ledger: String, started: String) throws(LedgerError) {
        // Whatever the ledger is called, its lock is one file.
        let path = Self.resolved(ledger) + ".lock"
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .file(FileError(.create, path)) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            let holder = Self.holder(descriptor)
            close(descriptor)
            throw code == EWOULDBLOCK ? .held(path: ledger, by: holder) : .file(FileError(.lock, path, code: code))
        }
        let note = Self.note(started: started)
        guard ftruncate(descriptor, 0) == 0, pwrite(descriptor, note, note.count, 0) == note.count else {
            let error = FileError(.write, path)
            close(descriptor)
            throw .file(error)
        }
    }

    /// Unlocks by name: a child process that is just being started shares the descriptor, and with it the lock.
    deinit {
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    private static func resolved(_ path: String) -> String {
        guard let resolved = realpath(path, nil) else { return path }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    private static func note(started: String) -> [UInt8] {
        var object = CanonicalObject()
        object.set("host", string: host)
        object.set("pid", integer: Int(getpid()))
        object.set("started", string: started)
        return object.bytes + [UInt8(ascii: "\n")]
    }

    /// What the machine calls itself. Foundation would ask name servers for its name in the world.
    private static var host: String {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "" }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private static func holder(_ descriptor: Int32) -> LedgerHolder? {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        return LedgerHolder(note: Array(bytes.prefix(max(0, count))))
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
