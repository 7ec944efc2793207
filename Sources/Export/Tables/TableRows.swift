import Telemetry

/// The rows of one table of a buffer, read row by row. If the buffer has no such table, there are no rows.
struct TableRows {
    private let buffer: RowBuffer
    private let cells: [Cell]
    private let columns: [String: Column]
    /// The column with the number of the record that a row belongs to.
    private let record: Column?
    /// The first row that was not taken.
    private var next = 0
    let count: Int

    /// A column, by its place in the row.
    struct Column {
        fileprivate let place: Int
    }

    init(_ table: Table, in buffer: RowBuffer) {
        self.buffer = buffer
        cells = buffer.place(ofTable: table.name).map { buffer.cells[$0] } ?? []
        columns = Dictionary(uniqueKeysWithValues: zip(table.columns.map(\.name), (0...).lazy.map(Column.init)))
        record = columns[TableColumn.record.name]
        count = cells.count / columns.count
    }

    /// Finds a column; nil if the table has none of that name.
    func column(_ name: String) -> Column? { columns[name] }

    /// Takes the next rows, which belong to a record. Rows have the order of their records.
    mutating func nextRows(ofRecord number: Cell) -> Range<Int> {
        let start = next
        while next < count, self[next, record] == number { next += 1 }
        return start..<next
    }

    subscript(row: Int, column: Column?) -> Cell {
        guard let column else { return .null }
        return cells[row * columns.count + column.place]
    }

    func integer(_ row: Int, _ column: Column?) -> Int? {
        guard case .integer(let number) = self[row, column] else { return nil }
        return Int(number)
    }

    /// The bytes of a text; nil for any other value.
    func bytes(_ row: Int, _ column: Column?) -> ArraySlice<UInt8>? {
        guard case .text(let start, let count) = self[row, column] else { return nil }
        return buffer.bytes(start, count)
    }

    /// A text, cut where it is too long to be shown.
    func text(_ row: Int, _ column: Column?) -> String? { bytes(row, column).map(DisplayText.truncated) }

    /// A text as it is, however long.
    func fullText(_ row: Int, _ column: Column?) -> String? {
        bytes(row, column).map { String(decoding: $0, as: UTF8.self) }
    }
}

/// A text of a capture as a page shows it.
enum DisplayText {
    /// A name of more bytes than these is no name that anybody reads.
    private static let limit = 160

    /// The text, or its beginning with an ellipsis.
    static func truncated(_ bytes: ArraySlice<UInt8>) -> String {
        let start = bytes.utf8Prefix(limit)
        let text = String(decoding: start, as: UTF8.self)
        return start.count < bytes.count ? text + "…" : text
    }

    static func truncated(_ text: String) -> String { truncated(Array(text.utf8)[...]) }
}

extension ArraySlice<UInt8> {
    /// Returns the longest prefix of UTF-8 that has at most `maxLength` bytes and does not end within a character.
    func utf8Prefix(_ maxLength: Int) -> Self {
        guard count > maxLength else { return self }
        var end = startIndex + maxLength
        while end > startIndex, self[end] & 0xC0 == 0x80 { end -= 1 }
        return self[..<end]
    }
}
