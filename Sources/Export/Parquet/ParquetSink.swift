import CLibrary
import Files
import JSONText
import Synchronization
import Telemetry

/// A sink that writes a folder with a Parquet file for each table.
///
/// The folder becomes visible when it is complete.
final class ParquetSink: TableSink {
    private var folder: AtomicFolder?
    private let path: String
    let tables: [Table]
    private var unwritten: [ParquetTable]
    private let pool: RowBufferPool
    let prepareRows: @Sendable (inout RowBuffer) -> RowBuffer
    let identities: Set<FileIdentity>

    /// Creates the folder.
    ///
    /// Columns are encoded on the free cores of `limit`. `creator` is the name and the version of the writing program.
    init(
        path: String, replacing: Bool, tables: [Table], creator: String, limit: JobLimit
    ) throws(FileError) {
        let names = tables.map { "\($0.name).parquet" } + [LoadScript.fileName, DataPackage.fileName]
        let folder = try AtomicFolder(path: path, files: names, replacing: replacing)
        try folder.write(LoadScript.text(forParquetFilesOf: tables).utf8.span, to: tables.count)
        try folder.write(DataPackage.bytes(for: tables, .parquet).span, to: tables.count + 1)
        let magic = ParquetFormat.magic
        for index in tables.indices { try folder.write(magic.span, to: index) }
        identities = folder.identities
        self.path = path
        let compressors = ValuePool { () throws(ZstdError) in try ZstdCompressor() }
        self.tables = tables
        unwritten = tables.map { ParquetTable($0, creator: creator, compressors: compressors, limit: limit) }
        let pool = RowBufferPool(tables, for: Self.self)
        self.pool = pool
        prepareRows = { pool.exchange(&$0) }
        self.folder = consume folder
    }

    func write(_ rows: borrowing RowBuffer) throws {
        for index in tables.indices where !rows.cells[index].isEmpty {
            try unwritten[index].append(rows.cells[index], rows.text) { try write($0, to: index) }
        }
    }

    func recycle(_ rows: RowBuffer) { pool.recycle(rows) }

    func commit() throws {
        for index in tables.indices { try unwritten[index].finish { try write($0, to: index) } }
        try folder.take()?.commit()
    }

    private func write(_ bytes: [UInt8], to file: Int) throws(FileError) {
        switch folder {
        case .some(let folder): try folder.write(bytes.span, to: file)
        case .none: return
        }
    }
}

/// The rows of a table that have not been written yet, and the metadata of the written rows.
struct ParquetTable {
    /// The maximum number of cells in a row group.
    static let maxCellCount = 1_000_000
    /// The size of the values in a row group, in bytes, at which the group is complete.
    ///
    /// This size limits the memory for encoded columns.
    static let sizeLimit = 32 << 20
    /// The minimum number of cells for which columns are encoded concurrently.
    private static let concurrencyThreshold = 4096

    private let columnCount: Int
    private let maxRowCount: Int
    private let columns: [Column]
    private let limit: JobLimit
    private var footer: ParquetFooter
    /// The number of rows in the current row group.
    private var rowCount = 0
    /// The size of the values in the current row group, in bytes.
    private var size = 0
    /// The number of bytes that have been written.
    private var offset = ParquetFormat.magic.count

    /// A column that is encoded by one thread at a time.
    private final class Column: Sendable {
        let encoder: Mutex<ColumnEncoder>

        init(_ encoder: sending ColumnEncoder) { self.encoder = Mutex(encoder) }
    }

    init(_ table: Table, creator: String, compressors: ValuePool<ZstdCompressor, ZstdError>, limit: JobLimit) {
        columnCount = table.columns.count
        maxRowCount = max(1, Self.maxCellCount / table.columns.count)
        columns = table.columns.map { Column(ColumnEncoder($0, compressors: compressors)) }
        self.limit = limit
        footer = ParquetFooter(table, creator: creator)
    }

    /// Appends rows, and calls `write` with each complete row group.
    mutating func append(_ cells: [Cell], _ text: TextBuffer, write: ([UInt8]) throws -> Void) throws {
        var row = 0
        let end = cells.count / columnCount
        while row < end {
            let start = row
            while row < end, !isFull {
                size += Self.size(of: cells, inRow: row, columnCount)
                rowCount += 1
                row += 1
            }
            let rows = start..<row
            forEachColumn(cellCount: rows.count * columnCount) { [columnCount] index, encoder in
                encoder.append(rows, of: cells, at: index, stride: columnCount, text: text)
            }
            if isFull { try writeRowGroup(write) }
        }
    }

    /// Writes the last row group and the metadata.
    mutating func finish(write: ([UInt8]) throws -> Void) throws {
        if rowCount > 0 { try writeRowGroup(write) }
        try write(footer.encoded)
    }

    private var isFull: Bool { rowCount == maxRowCount || size >= Self.sizeLimit }

    /// Returns the size of the values of a row in plain encoding, in bytes.
    private static func size(of cells: [Cell], inRow row: Int, _ columnCount: Int) -> Int {
        var size = 0
        for index in row * columnCount..<(row + 1) * columnCount {
            switch cells[index] {
            case .null: break
            case .integer: size &+= 8
            case .text(_, let count), .real(_, let count): size &+= 4 &+ Int(count)
            }
        }
        return size
    }

    private func forEachColumn(cellCount: Int, _ body: @Sendable (Int, inout ColumnEncoder) -> Void) {
        if cellCount < Self.concurrencyThreshold {
            for index in columns.indices { columns[index].encoder.withLock { body(index, &$0) } }
        } else {
            limit.concurrentPerform(columnCount) { [columns] index in
                columns[index].encoder.withLock { body(index, &$0) }
            }
        }
    }

    private mutating func writeRowGroup(_ write: ([UInt8]) throws -> Void) throws {
        let chunks = Mutex([Result<ColumnChunk, any Error>?](repeating: nil, count: columnCount))
        forEachColumn(cellCount: rowCount * columnCount) { index, encoder in
            let chunk = Result { try encoder.finishRowGroup() }
            chunks.withLock { $0[index] = chunk }
        }
        let encoded = try chunks.withLock { try $0.compactMap { try $0?.get() } }
        footer.add(encoded, rowCount: rowCount, at: offset)
        for chunk in encoded {
            try write(chunk.bytes)
            offset += chunk.bytes.count
        }
        (rowCount, size) = (0, 0)
    }
}
