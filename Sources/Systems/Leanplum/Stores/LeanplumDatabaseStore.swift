import Bytes
import Files
import Hashing
import Telemetry

/// A database of Leanplum's SDK, with its journal and its write-ahead log.
struct LeanplumDatabaseStore: Store {
    let path: String

    var system: SystemName? { .leanplum }
    var kind: StoreKind { .leanplumSQLite }
    var companionPaths: [String] { LeanplumFileName.companionSuffixes.map { path + $0 } }
    var fileCount: Int { 1 }
    var isReadByOneJob: Bool { false }

    func scan(_ files: Range<Int>, in context: StoreContext) -> any StoreScan {
        LeanplumDatabaseScan(self, in: context)
    }
}

/// A scan that reads a database in batches.
///
/// If a part of the database cannot be parsed, the files of the database are put into quarantine.
private struct LeanplumDatabaseScan: StoreScan {
    private let store: LeanplumDatabaseStore
    private let context: StoreContext
    /// The copy of the database, or `nil` before it is created.
    private var database: LeanplumDatabase?
    /// The quarantine entries of the database, its journal and its write-ahead log, if there is a fault.
    private var quarantineEntries: [QuarantineEntry] = []

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
        if let fault = opened.writeAheadLogFault {
            output.report(Problem("damaged", fault.description, at: fault.offset), path: store.path + "-wal")
        }
        database = opened
        return opened
    }
}

// MARK: - Quarantine

extension LeanplumDatabaseScan {
    /// Adds a quarantine entry of the database for each fault.
    ///
    /// Entries of the journal and the write-ahead log are added once, because these files can contain rows.
    private mutating func quarantineFiles(
        of database: LeanplumDatabase, for rejects: [Reject], into output: inout ScanOutput
    ) throws(FileError) {
        let isFirst = quarantineEntries.isEmpty
        if isFirst {
            quarantineEntries = try database.paths.map { path throws(FileError) in try quarantineEntry(ofFileAt: path) }
        }
        for reject in rejects {
            quarantineEntries[0].reject = reject
            output.quarantine(quarantineEntries[0])
        }
        guard isFirst else { return }
        for companion in quarantineEntries.dropFirst() { output.quarantine(companion) }
    }

    /// Returns the quarantine entry of a file.
    ///
    /// The file is hashed in chunks because it can be too large for memory.
    private func quarantineEntry(ofFileAt path: String) throws(FileError) -> QuarantineEntry {
        let source = try context.tree.source(at: path)
        var hash = SHA256()
        try source.forEachChunk { bytes, _ throws(FileError) in hash.update(bytes.span) }
        return QuarantineEntry(
            capture: context.capture, path: path, store: store.kind,
            reject: Reject("companion of a database in quarantine"), size: source.count,
            sha256: hash.finalize().hex, isStored: true)
    }
}
