import Files
import Glibc
import Parallel
import SQLite
import Telemetry

/// Writes tables as one SQLite database, which appears complete or not at all.
final class SQLiteSink: TableSink {
    private var file: AtomicOutput?
    private let path: String
    private let tables: [Table]
    private let database: NewDatabase
    private let insertions: [RowInsertion]
    private var unsynced = 0
    let preparer: SQLitePreparer
    let identities: Set<FileIdentity>
    /// A row of a table needs no time.
    let timeless = 0

    /// - Parameter threads: how many may help to sort the indexes.
    /// - Throws: `FileError`.
    init(path: String, replacing: Bool, tables: ExportTables, threads: Int) throws(FileError) {
        let file = try AtomicOutput(path: path, replacing: replacing)
        identities = file.identities
        self.path = path
        self.tables = tables.all
        preparer = SQLitePreparer(tables: tables.all)
        do {
            let database = try NewDatabase(path: file.partialPath, threads: threads)
            try database.run("PRAGMA user_version = \(ExportTables.version)")
            for table in tables.all { try database.run(SchemaText.creation(of: table)) }
            insertions = try tables.all.map { table in
                try database.insertion(into: SchemaText.quoted(table.name), columns: table.columns.count)
            }
            self.database = database
        } catch {
            throw FileError(error, writing: path)
        }
        self.file = consume file
    }

    func write(_ rows: borrowing RowBuffer) throws {
        let text = rows.text[0..<rows.text.count]
        do {
            for (place, table) in tables.enumerated() where !rows.cells[place].isEmpty {
                let cells = rows.cells[place]
                try insertions[place].add(rows: rows.rowCount(of: place, table), text: text.span) { index in
                    switch cells[index] {
                    case .null: .null
                    case .integer(let number): .integer(number)
                    case .text(let start, let count): .text(start: start, count: Int(count))
                    case .real(let start, let count): Self.real(text[start..<start + Int(count)])
                    }
                }
            }
        } catch {
            throw FileError(error, writing: path)
        }
        unsynced += rows.text.count
        if unsynced >= Self.syncedSize { beginSync() }
    }

    /// The disk has time until all is written.
    private func beginSync() {
        unsynced = 0
        switch file {
        case .some(let file): file.beginSync()
        case .none: break
        }
    }

    /// So many bytes of texts go to the disk at once.
    private static let syncedSize = 32 << 20

    /// The binary number of a text; one that is beyond all numbers is none.
    private static func real(_ text: ArraySlice<UInt8>) -> RowInsertion.Value {
        guard let number = Double(String(decoding: text, as: UTF8.self)), number.isFinite else { return .null }
        return .real(number)
    }

    func commit() throws {
        do {
            for index in tables.flatMap(SchemaText.indexes) {
                try database.run(index)
                beginSync()
            }
            for view in ExportTables.views { try database.run(SchemaText.creation(of: view)) }
            try database.finish()
        } catch {
            throw FileError(error, writing: path)
        }
        try file.take()?.commit()
    }
}

/// Hands the rows on as they are: SQLite takes the texts from where they stand.
struct SQLitePreparer: RowPreparer {
    private let spares: SparePool<RowBuffer, Never>

    init(tables: [Table]) {
        spares = SparePool(keeping: Self.spareLimit) { RowBuffer(tables) }
    }

    func prepare(_ rows: inout RecordRows) -> RowBuffer { rows.take(leaving: spares.take()) }

    func prepare(_ rows: RowBuffer) -> RowBuffer { rows }

    func recycle(_ rows: RowBuffer) {
        if rows.memorySize <= Self.spareSizeLimit { spares.giveBack(rows) }
    }
}

extension FileError {
    /// Says why a database could not be written.
    init(_ error: any Error, writing path: String) {
        guard let error = error as? DatabaseError else {
            self.init(.write, path, code: EIO, saying: "cannot write \(path): \(error)")
            return
        }
        switch error.kind {
        case .full: self.init(.write, path, code: ENOSPC)
        case .damaged, .notADatabase, .notAllowed, .other:
            self.init(.write, path, code: EIO, saying: "cannot write \(path): \(error)")
        }
    }
}
