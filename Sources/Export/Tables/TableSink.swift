import Files
import Telemetry

/// An output of an export, such as a database, to which rows are written in order.
///
/// The protocol requires a class, because several owners share an output.
protocol TableSink: AnyObject, SendableMetatype {
    /// The type of rows that are ready to be written.
    associatedtype Prepared: Sendable

    /// A function that converts rows before they are written.
    ///
    /// The function is called concurrently. The contents of the buffer are unspecified afterwards.
    var prepareRows: @Sendable (inout RowBuffer) -> Prepared { get }

    /// The stored tables, with the stored columns.
    var tables: [Table] { get }

    /// The identities of the output files, which must not be read as input.
    var identities: Set<FileIdentity> { get }

    /// The number of rows that could not be written because they have no time.
    var untimedRowCount: Int { get }

    /// The number of cells whose text is truncated because it does not fit into a cell of a spreadsheet.
    var truncatedCellCount: Int { get }

    /// The event data that the column `extra` of prepared rows contains.
    var extraContents: ExtraContents { get }

    func write(_ prepared: borrowing Prepared) throws

    /// Makes the memory of written rows available for reuse.
    func recycle(_ prepared: Prepared)

    /// Completes the output and makes it visible.
    func commit() throws
}

/// A pool of buffers for the rows of a sink that writes rows without converting them.
struct RowBufferPool: Sendable {
    private let buffers: ValuePool<RowBuffer, Never>
    private let maxSpareSize: Int

    init(_ tables: [Table], for sink: (some TableSink).Type) {
        buffers = ValuePool(keeping: sink.maxSpareCount) { RowBuffer(tables) }
        maxSpareSize = sink.maxSpareSize
    }

    /// Returns `rows`, and replaces it with a buffer whose contents are unspecified.
    func exchange(_ rows: inout RowBuffer) -> RowBuffer {
        var taken = buffers.take()
        swap(&taken, &rows)
        return taken
    }

    func recycle(_ rows: RowBuffer) {
        if rows.memorySize <= maxSpareSize { buffers.recycle(rows) }
    }
}

/// The rows of a table in a buffer, which are read in order.
///
/// The cases of `Column` are the columns of the table in order.
struct RowReader<Column: RawRepresentable & CaseIterable> where Column.RawValue == Int {
    let cells: [Cell]
    /// The index of the first cell of the current row.
    private var start = 0

    init(_ cells: [Cell]) { self.cells = cells }

    var isAtEnd: Bool { start >= cells.count }
    /// The cells of the current row.
    var row: ArraySlice<Cell> { cells[start..<start + Column.allCases.count] }
    /// The cell of the current row in `column`.
    subscript(column: Column) -> Cell { cells[start + column.rawValue] }
    /// Returns whether the current row belongs to the record with the number `record`.
    func isOf(_ record: Cell) -> Bool { !isAtEnd && cells[start] == record }
    mutating func advance() { start += Column.allCases.count }
}

extension TableSink {
    /// The maximum number of unused buffers that a sink keeps.
    static var maxSpareCount: Int { 16 }

    /// The maximum size, in bytes, of a buffer that a sink keeps.
    static var maxSpareSize: Int { 4 << 20 }

    var untimedRowCount: Int { 0 }

    var truncatedCellCount: Int { 0 }

    var extraContents: ExtraContents { .remainingData }

    func recycle(_ prepared: Prepared) {}
}
