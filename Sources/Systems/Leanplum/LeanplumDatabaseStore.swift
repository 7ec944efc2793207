import Bytes
import Files
import Hashing
import SQLite
import Synchronization
import Telemetry

/// A database of Leanplum's SDK, with its journal and its write-ahead log.
struct LeanplumDatabaseStore: Store {
    let path: String

    var system: SystemName? { .leanplum }
    var kind: StoreKind { .leanplumSQLite }
    var companionPaths: [String] { LeanplumFileName.companionSuffixes.map { path + $0 } }

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

// MARK: - Database

/// A Leanplum database that is read in batches from a copy of its files.
///
/// This is a class because its state is noncopyable and is shared between threads.
private final class LeanplumDatabase: Sendable {
    /// The maximum size, in bytes, of a database, journal or write-ahead log that is copied.
    static let sizeLimit = 256 << 20

    /// The total size, in bytes, of the database, its journal and its write-ahead log.
    let size: Int
    /// The paths, in the capture, of the database and of its journal and write-ahead log, if they exist.
    ///
    /// The path of the database is first. The files are not copied if one of them exceeds ``sizeLimit``.
    let paths: [String]
    /// The damage in the write-ahead log, if there is any.
    let writeAheadLogFault: WriteAheadLogFault?
    private let databaseCopy: DatabaseCopy?
    private let state: Mutex<ReadingState>

    fileprivate struct ReadingState: ~Copyable {
        var requests: LeanplumRequests
        var table: EventTable?
    }

    /// Copies a database, unless one of its files is too large.
    init(_ store: LeanplumDatabaseStore, in context: StoreContext) throws(FileError) {
        let folder = context.options.copyFolder
        let main = try context.tree.source(at: store.path)
        var companions: [ByteSource?] = []
        var paths = [store.path]
        for path in store.companionPaths {
            do throws(FileError) {
                companions.append(try context.tree.source(at: path))
                paths.append(path)
            } catch {
                guard error.isNotFound else { throw error }
                companions.append(nil)
            }
        }
        self.paths = paths
        let sizes = [main.count] + companions.map { $0?.count ?? 0 }
        size = sizes.reduce(0, +)
        if sizes.allSatisfy({ $0 <= Self.sizeLimit }) {
            writeAheadLogFault = try companions[1].flatMap { (log) throws(FileError) in
                try WriteAheadLogFault.find(in: log)
            }
            databaseCopy = try DatabaseCopy(
                main: main.copied(to: folder), journal: companions[0]?.copied(to: folder),
                writeAheadLog: companions[1]?.copied(to: folder), size: size, sizeLimit: Self.sizeLimit)
        } else {
            databaseCopy = nil
            writeAheadLogFault = nil
        }
        let source = Source(capture: context.capture, path: store.path, store: store.kind, index: 0)
        state = Mutex(
            ReadingState(
                requests: LeanplumRequests(from: source, applicationID: context.leanplumApplicationID), table: nil))
    }

    /// Reads rows until the output is full.
    ///
    /// - Returns: Whether the end of the table was reached.
    func read(into output: inout ScanOutput) -> Bool { state.withLock { $0.read(databaseCopy, into: &output) } }
}

extension LeanplumDatabase.ReadingState {
    fileprivate mutating func read(_ databaseCopy: DatabaseCopy?, into output: inout ScanOutput) -> Bool {
        do throws(PrivateDatabaseError) {
            if table == nil, try !openTable(databaseCopy, &output) { return true }
            while let item = try table?.read() {
                add(item, into: &output)
                if output.isFull { return false }
            }
        } catch {
            report(error, into: &output)
        }
        requests.finish(into: &output)
        return true
    }

    /// Opens the copy of the database, and returns whether the copy contains a readable event table.
    private mutating func openTable(_ databaseCopy: DatabaseCopy?, _ output: inout ScanOutput)
        throws(PrivateDatabaseError)
        -> Bool
    {
        guard let databaseCopy else {
            output.rejects.append(Reject("too-large more than \(LeanplumDatabase.sizeLimit >> 20) MiB"))
            return false
        }
        let database = try PrivateDatabase(databaseCopy, table: "event")
        switch try EventSchema.check(database) {
        case .failure(let fault):
            output.rejects.append(Reject("\(fault.code) \(fault.reason)"))
            return false
        case .success(let otherObjects):
            if otherObjects > 0 {
                output.report(
                    Problem("schema-objects", "\(otherObjects) other tables, indices, views or triggers: not looked at")
                )
            }
        }
        table = try EventTable(database, size: databaseCopy.size)
        return true
    }

    private mutating func add(_ item: EventTable.Item, into output: inout ScanOutput) {
        switch item {
        case .row(let rowid, let data, isBLOB: false): requests.append(data, rowid: rowid, into: &output)
        case .row(let rowid, let data, isBLOB: true):
            requests.append(blob: data, rowid: rowid, into: &output)
        case .tooLarge(let rowid):
            requests.skipItem(.tooLarge, "more than \(EventSchema.rowSizeLimit >> 20) MiB", rowid: rowid, into: &output)
        case .lostRows(let first, let last):
            let reason = "corrupt \(Self.rowDescription(first, last)) cannot be read"
            output.rejects.append(Reject(reason))
            requests.endRecord(noting: reason, into: &output)
        }
    }

    private static func rowDescription(_ first: Int64, _ last: Int64?) -> String {
        switch (first, last) {
        case (.min, nil): "the rows"
        case (_, nil): "rows from rowid \(first) on"
        case (.min, let last?): "rows up to rowid \(last)"
        case (_, let last?): first == last ? "the row of rowid \(first)" : "rows of rowid \(first) to \(last)"
        }
    }

    private func report(_ error: PrivateDatabaseError, into output: inout ScanOutput) {
        guard !error.isResourceError else {
            return output.report(Problem("unreadable", "cannot work on a copy: \(error)"))
        }
        let code = error.isNotADatabase ? "not_a_database" : error.isOutOfBudget ? "budget-exceeded" : "corrupt"
        output.rejects.append(
            Reject("\(code) \(error) after \(requests.itemCount.counted("row"))"))
    }
}
