import Files
import Parallel
import SQLite
import Telemetry

/// Writes tables as an SQLite database.
///
/// The file becomes visible when it is complete.
final class SQLiteSink: TableSink {
    private var file: AtomicOutput?
    private let path: String
    private let tables: [Table]
    private let database: NewDatabase
    private let insertions: [RowInsertion]
    private var unsyncedBytes = 0
    private let spares: ValuePool<RowBuffer, Never>
    /// Rows need no conversion, because SQLite reads the strings directly from the buffer.
    let prepare: @Sendable (inout RowBuffer) -> RowBuffer
    let identities: Set<FileIdentity>

    /// Creates a database.
    ///
    /// At most `threads` threads are used to create its indexes.
    init(path: String, replacing: Bool, tables: [Table], threads: Int) throws(FileError) {
        let file = try AtomicOutput(path: path, replacing: replacing)
        identities = file.identities
        self.path = path
        self.tables = tables
        let spares = ValuePool<_, Never>(keeping: Self.spareLimit) { RowBuffer(tables) }
        self.spares = spares
        prepare = { rows in
            var taken = spares.take()
            swap(&taken, &rows)
            return taken
        }
        do {
            let database = try NewDatabase(path: file.partialPath, threads: threads)
            try database.run("PRAGMA user_version = \(ExportTables.version)")
            for table in tables { try database.run(SchemaText.creation(of: table)) }
            insertions = try tables.map { table in
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
        unsyncedBytes += rows.text.count
        if unsyncedBytes >= Self.syncedSize { beginSync() }
    }

    func recycle(_ rows: RowBuffer) {
        if rows.memorySize <= Self.spareSizeLimit { spares.recycle(rows) }
    }

    /// Starts writing the file to disk in the background.
    private func beginSync() {
        unsyncedBytes = 0
        switch file {
        case .some(let file): file.beginSync()
        case .none: break
        }
    }

    /// The number of unsynced bytes that starts a write to disk.
    private static let syncedSize = 32 << 20

    /// Returns the floating-point value of a string, or NULL if the value is not finite.
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

extension FileError {
    fileprivate init(_ error: any Error, writing path: String) {
        self.init(error, .write, path, doing: "write \(path)")
    }
}
