import Bytes
import Files
import SQLite
import Synchronization
import Telemetry

/// A database of Leanplum's SDK, with its journal and its write-ahead log.
struct LeanplumDatabaseStore: Store {
    let path: String
    /// Whether the file at ``path`` is a journal or write-ahead log whose database is missing.
    var isDetached = false

    var system: SystemName? { .leanplum }
    var kind: StoreKind { .leanplumSQLite }
    var companionPaths: [String] { isDetached ? [] : LeanplumFileName.companionSuffixes.map { path + $0 } }
    fileprivate var isWriteAheadLog: Bool { isDetached && path.hasSuffix("-wal") }

    func scan(_ files: Range<Int>, in context: StoreContext) throws(FileError) -> any StoreScan {
        LeanplumDatabaseScan(try LeanplumDatabase(self, in: context))
    }
}

/// A scan that reads a database row by row, implemented as a class because its state cannot be copied.
private final class LeanplumDatabaseScan: StoreScan {
    private let database: Mutex<LeanplumDatabase>

    init(_ database: consuming sending LeanplumDatabase) { self.database = Mutex(database) }

    func read(into output: inout ScanOutput) throws -> Bool { try database.withLock { try $0.read(into: &output) } }
}

// MARK: - Database

/// A Leanplum database that is read from a copy of its files.
///
/// If a part of the database cannot be parsed, the files of the database are put into quarantine.
private struct LeanplumDatabase: ~Copyable {
    /// The maximum size, in bytes, of a database, journal or write-ahead log that is copied.
    private static let sizeLimit = 256 << 20

    /// The database, and its journal and write-ahead log if they exist.
    ///
    /// The files are not copied if one of them exceeds ``sizeLimit``.
    private var files: [OpenFile]
    /// The damage in the write-ahead log, if there is any.
    private let writeAheadLogFault: WriteAheadLogFault?
    private let databaseCopy: DatabaseCopy?
    /// A copy of the database without its journal, or `nil` if there is no journal that SQLite may roll back.
    private let copyWithoutJournal: DatabaseCopy?
    /// The pages in a write-ahead log whose database is missing, or `nil` if it contains no committed transaction.
    private let detachedLog: DetachedWriteAheadLog?
    private let store: LeanplumDatabaseStore
    private var hasStarted = false
    private var hasLostRows = false
    private var requests: LeanplumRequests
    // Without a default value, because a partly initialized value cannot be destroyed.
    private var table: Optional<EventTable>

    /// Copies a database, unless one of its files is too large.
    init(_ store: LeanplumDatabaseStore, in context: StoreContext) throws(FileError) {
        let main = try context.tree.source(at: store.path)
        var files = [Self.file(at: store.path, main)]
        var companions: [ByteSource?] = []
        for path in store.companionPaths {
            do throws(FileError) {
                let companion = try context.tree.source(at: path)
                companions.append(companion)
                files.append(Self.file(at: path, companion))
            } catch {
                guard error.isNotFound else { throw error }
                companions.append(nil)
            }
        }
        var (copy, copyWithoutJournal, fault): (DatabaseCopy?, DatabaseCopy?, WriteAheadLogFault?) = (nil, nil, nil)
        var detachedLog: DetachedWriteAheadLog?
        let folder = context.options.copyFolder
        let size = files.reduce(0) { $0 + $1.count }
        if files.allSatisfy({ $0.count <= Self.sizeLimit }) {
            // An empty database has no rows, but SQLite would ignore its log.
            let log = store.isWriteAheadLog ? main : main.count == 0 ? companions.last ?? nil : nil
            if let log, log.count > 0 {
                fault = try WriteAheadLogFault.find(in: log)
                detachedLog = try DetachedWriteAheadLog(in: log, copiedTo: folder, sizeLimit: Self.sizeLimit)
                if let detachedLog, let database = detachedLog.database {
                    copy = try DatabaseCopy(
                        main: database, journal: nil, writeAheadLog: nil, size: size, sizeLimit: Self.sizeLimit,
                        missingRanges: detachedLog.missingRanges)
                }
            } else if !store.isDetached {
                fault = try companions[1].flatMap { (log) throws(FileError) in try WriteAheadLogFault.find(in: log) }
                copy = try DatabaseCopy(
                    main: main.copied(to: folder), journal: companions[0]?.copied(to: folder),
                    writeAheadLog: companions[1]?.copied(to: folder), size: size, sizeLimit: Self.sizeLimit)
            }
            if try copy?.hasJournalSignature == true {
                copyWithoutJournal = try DatabaseCopy(
                    main: main.copied(to: folder), journal: nil, writeAheadLog: companions[1]?.copied(to: folder),
                    size: size, sizeLimit: Self.sizeLimit)
            }
        }
        let source = Source(capture: context.capture, path: store.path, store: store.kind, index: 0)
        self.files = files
        writeAheadLogFault = fault
        databaseCopy = copy
        self.detachedLog = detachedLog
        self.copyWithoutJournal = copyWithoutJournal
        self.store = store
        requests = LeanplumRequests(from: source, applicationID: context.leanplumApplicationID)
        table = nil
    }

    private static func file(at path: String, _ contents: ByteSource) -> OpenFile {
        // The files are read by their paths, so their names are not needed.
        OpenFile(StoreFile(name: [], path: path, kind: .leanplumSQLite), contents: .source(contents))
    }

    /// Reads a row, and returns whether the end of the table was not reached.
    mutating func read(into output: inout ScanOutput) throws -> Bool {
        if !hasStarted {
            hasStarted = true
            output.bytesRead += files.reduce(0) { $0 + $1.count }
            if let fault = writeAheadLogFault {
                let path = store.isDetached ? store.path : store.path + "-wal"
                output.report(Problem("damaged", fault.description, at: fault.offset), path: path)
            }
        }
        var main = files[0]
        let hasMore = try output.withFile(&main) { try readRow(into: &$0) }
        files[0] = main
        guard !hasMore, main.isQuarantined else { return hasMore }
        // The journal and the write-ahead log can contain rows.
        for var companion in files.dropFirst() {
            try output.withFile(&companion) { try $0.reject(Reject(Reject.companionReason)) }
        }
        return false
    }

    private mutating func readRow(into output: inout ScanOutput) throws -> Bool {
        do {
            if table == nil, try !openTable(&output) { return false }
            if let item = try table?.read() {
                try add(item, into: &output)
                return true
            }
            if let detachedLog { try report(detachedLog, into: &output) }
        } catch let error as PrivateDatabaseError {
            hasLostRows = true
            if let detachedLog { try report(detachedLog, into: &output) }
            try report(error, into: &output)
        }
        try requests.finish(into: &output)
        return false
    }

    /// Reports that the rows were read from a write-ahead log alone, and that rows were lost if this is the case.
    private func report(_ log: DetachedWriteAheadLog, into output: inout ScanOutput) throws {
        var text = "the database is \(stateOfMain); its rows were read from the write-ahead log alone"
        guard !log.missingPages.isEmpty else { return output.report(Problem("no-database", text)) }
        text += ", which lacks \(log.missingPagesText) of \(log.pageCount)"
        guard hasLostRows else {
            return output.report(Problem("no-database", "\(text); no row of the table is on a missing page"))
        }
        try output.reject(Reject("no-database \(text); the rows on these pages are lost; \(Self.remedy)"))
    }

    private var stateOfMain: String { store.isDetached ? "missing" : "empty" }
    private static let remedy = "copy the database from the phone, too, if it is still there"

    /// Opens the copy of the database, and returns whether the copy contains a readable event table.
    private mutating func openTable(_ output: inout ScanOutput) throws -> Bool {
        guard let databaseCopy else {
            try output.reject(Reject(rejectReason))
            return false
        }
        let database = try PrivateDatabase(databaseCopy, table: "event")
        switch try EventSchema.check(database) {
        case .failure(let fault):
            try output.reject(Reject("\(fault.code) \(fault.reason)"))
            return false
        case .success(let otherObjects):
            if otherObjects > 0 {
                output.report(
                    Problem("schema-objects", "\(otherObjects) other tables, indices, views or triggers: not looked at")
                )
            }
        }
        try reportRollback(database, databaseCopy, into: &output)
        table = try EventTable(database, size: databaseCopy.size)
        return true
    }

    /// The reason why the files were not opened.
    private var rejectReason: String {
        guard files.allSatisfy({ $0.count <= Self.sizeLimit }) else {
            return "too-large more than \(Self.sizeLimit >> 20) MiB"
        }
        let reason =
            if let detachedLog, detachedLog.missingPages.isEmpty {
                "the write-ahead log states that it has \(detachedLog.pageCount) pages, which are too many"
            } else if let detachedLog {
                "the write-ahead log lacks \(detachedLog.missingPagesText) of \(detachedLog.pageCount); without page 1, "
                    + "which describes the table, the rows on the other pages cannot be read"
            } else if store.isWriteAheadLog || !store.isDetached {
                "the write-ahead log contains no whole transaction"
            } else {
                "a journal contains only earlier versions of some of its pages"
            }
        return "no-database the database is \(stateOfMain), and \(reason); \(Self.remedy)"
    }

    /// Reports that SQLite rolled back the journal when it read the schema, and the number of replaced rows.
    private func reportRollback(
        _ database: PrivateDatabase, _ databaseCopy: DatabaseCopy, into output: inout ScanOutput
    ) throws {
        guard let copyWithoutJournal, try !databaseCopy.hasJournalSignature else { return }
        var text = "a hot journal was rolled back"
        if let rows = try? Self.replacedRows(of: copyWithoutJournal, by: database, size: databaseCopy.size) {
            text += ", which replaced \(rows.removed.counted("row")) by \(rows.restored.counted("earlier row"))"
        }
        output.report(Problem("rolled-back", text), path: store.path + LeanplumFileName.companionSuffixes[0])
    }

    /// Returns the number of rows that only the copy without its journal contains, and of those that only the
    /// database after the rollback contains.
    ///
    /// Rows that cannot be read are not counted.
    private static func replacedRows(
        of copyWithoutJournal: DatabaseCopy, by database: PrivateDatabase, size: Int
    ) throws -> (removed: Int, restored: Int) {
        let earlier = try PrivateDatabase(copyWithoutJournal, table: "event")
        _ = try EventSchema.check(earlier).get()
        var before = try EventTable(earlier, size: size)
        var after = try EventTable(database, size: size)
        var (removed, restored) = (0, 0)
        var (old, new) = (try before.readRow(), try after.readRow())
        while old != nil || new != nil {
            let rowid = min(old?.rowid ?? .max, new?.rowid ?? .max)
            let isUnchanged = old == new
            if let row = old, row.rowid == rowid {
                if !isUnchanged { removed += 1 }
                old = try before.readRow()
            }
            if let row = new, row.rowid == rowid {
                if !isUnchanged { restored += 1 }
                new = try after.readRow()
            }
        }
        return (removed, restored)
    }

    private mutating func add(_ item: EventTable.Item, into output: inout ScanOutput) throws {
        switch item {
        case .row(let rowid, let data, isBLOB: false): try requests.append(data, rowid: rowid, into: &output)
        case .row(let rowid, let data, isBLOB: true): try requests.append(blob: data, rowid: rowid, into: &output)
        case .tooLarge(let rowid):
            let limit = "more than \(EventSchema.rowSizeLimit >> 20) MiB"
            try requests.skipItem(.tooLarge, limit, rowid: rowid, into: &output)
        case .lostRows(let first, let last):
            hasLostRows = true
            let reason = "corrupt \(Self.rowDescription(first, last)) cannot be read"
            try output.reject(Reject(reason))
            try requests.endRecord(noting: reason, into: &output)
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

    private func report(_ error: PrivateDatabaseError, into output: inout ScanOutput) throws {
        guard !error.isResourceError else {
            return output.report(Problem("unreadable", "cannot work on a copy: \(error)"))
        }
        let code = error.isNotADatabase ? "not_a_database" : error.isOutOfBudget ? "budget-exceeded" : "corrupt"
        try output.reject(Reject("\(code) \(error) after \(requests.itemCount.counted("row"))"))
    }
}

/// A row of an event table, for comparison.
private struct EventRow: Equatable {
    let rowid: Int64
    let data: [UInt8]
}

extension EventTable {
    /// Returns the next row that can be read, or `nil` at the end of the table.
    fileprivate mutating func readRow() throws(PrivateDatabaseError) -> EventRow? {
        while let item = try read() {
            if case .row(let rowid, let data, _) = item { return EventRow(rowid: rowid, data: data) }
        }
        return nil
    }
}
