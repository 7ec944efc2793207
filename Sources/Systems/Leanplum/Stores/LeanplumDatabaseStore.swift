import Bytes
import Files
import Hashing
import Telemetry

/// A database of Leanplum's SDK, with the journal and the write-ahead log beside it.
struct LeanplumDatabaseStore: Store {
    let path: String

    var system: SystemName? { .leanplum }
    var kind: StoreKind { .leanplumSQLite }
    var companionPaths: [String] { LeanplumName.companionSuffixes.map { path + $0 } }
    var fileCount: Int { 1 }
    var isReadAtOnce: Bool { false }

    func scan(_ files: Range<Int>, in context: StoreContext) -> any StoreScan {
        LeanplumDatabaseScan(self, in: context)
    }
}

/// Reads a database in batches, and puts its files in quarantine where not all of it can be understood.
private struct LeanplumDatabaseScan: StoreScan {
    private let store: LeanplumDatabaseStore
    private let context: StoreContext
    /// The copy that is being read, once it was made.
    private var database: LeanplumDatabase?
    /// The files as the quarantine lists them, once they were hashed.
    private var quarantined: [FileDigest]?

    init(_ store: LeanplumDatabaseStore, in context: StoreContext) {
        self.store = store
        self.context = context
    }

    mutating func read(into output: inout ScanOutput) throws(FileError) -> Bool {
        do throws(FileError) {
            return try readRows(into: &output)
        } catch {
            guard error.operation != .spool else { throw error }
            output.report(Problem("unreadable", error.description), path: store.path)
            return false
        }
    }

    private mutating func readRows(into output: inout ScanOutput) throws(FileError) -> Bool {
        let database = try openDatabase(&output)
        output.path = store.path
        let isFinished = database.read(into: &output)
        let rejects = output.takeRejects()
        if !rejects.isEmpty { try quarantineFiles(of: database, for: rejects, into: &output) }
        return !isFinished
    }

    private mutating func openDatabase(_ output: inout ScanOutput) throws(FileError) -> LeanplumDatabase {
        if let database { return database }
        let opened = try LeanplumDatabase(store, in: context)
        output.bytesRead += opened.size
        if let fault = opened.logFault {
            output.report(Problem("damaged", fault.description, at: fault.offset), path: store.path + "-wal")
        }
        database = opened
        return opened
    }
}

// MARK: - Quarantine

extension LeanplumDatabaseScan {
    /// A file as the quarantine lists it.
    private struct FileDigest {
        let path: String
        let size: Int
        let sha256: String
    }

    /// Quarantines the database for each fault, and what lies beside it once, for that is where some of its rows may be.
    private mutating func quarantineFiles(
        of database: LeanplumDatabase, for rejects: [Reject], into output: inout ScanOutput
    ) throws(FileError) {
        let isFirst = quarantined == nil
        for file in try digests(of: database) {
            let isMain = file.path == store.path
            guard isMain || isFirst else { continue }
            for reject in isMain ? rejects : [Reject("companion of a database in quarantine")] {
                output.quarantine(
                    Quarantined(
                        capture: context.capture, path: file.path, store: store.kind, reject: reject, size: file.size,
                        sha256: file.sha256, isStored: true))
            }
        }
    }

    /// The files as they lie in the capture, the database first. They may be too large for memory.
    private mutating func digests(of database: LeanplumDatabase) throws(FileError) -> [FileDigest] {
        if let quarantined { return quarantined }
        var digests: [FileDigest] = []
        for path in database.paths {
            let source = try context.tree.source(path)
            var hash = SHA256()
            try source.forEachStep { bytes, _ throws(FileError) in hash.update(bytes.span) }
            digests.append(FileDigest(path: path, size: source.count, sha256: hash.finalize().hex))
        }
        quarantined = digests
        return digests
    }
}
