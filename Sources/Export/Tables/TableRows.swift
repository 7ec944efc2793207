import Telemetry

/// The rows of one table in a buffer, or no rows if the buffer does not have the table.
struct TableRows {
    private let buffer: RowBuffer
    private let cells: [Cell]
    private let columns: [String: Column]
    /// The column with the number of the record that a row belongs to.
    private let record: Column?
    /// The index of the first row that has not been returned by `nextRows(ofRecord:)`.
    private var next = 0
    let count: Int

    /// The index of a column.
    struct Column {
        fileprivate let place: Int
    }

    init(_ table: Table, in buffer: RowBuffer) {
        self.buffer = buffer
        cells = buffer.index(ofTable: table.name).map { buffer.cells[$0] } ?? []
        columns = Dictionary(uniqueKeysWithValues: zip(table.columns.map(\.name), (0...).lazy.map(Column.init)))
        record = columns[TableColumn.record.name]
        count = cells.count / columns.count
    }

    /// Returns the column with a name, or `nil` if the table does not have it.
    func column(_ name: String) -> Column? { columns[name] }

    /// Returns the range of the next rows, in the order of the records, that belong to the given record.
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

    /// Returns the bytes of a string cell, or `nil` for any other cell.
    func bytes(_ row: Int, _ column: Column?) -> ArraySlice<UInt8>? {
        guard case .text(let start, let count) = self[row, column] else { return nil }
        return buffer.bytes(start, count)
    }

    /// Returns a string cell, truncated to a length that can be displayed.
    func text(_ row: Int, _ column: Column?) -> String? { bytes(row, column).map(DisplayText.truncated) }

    /// Returns a string cell without truncating it.
    func fullText(_ row: Int, _ column: Column?) -> String? {
        bytes(row, column).map { String(decoding: $0, as: UTF8.self) }
    }
}

/// Strings from captures, as a page displays them.
enum DisplayText {
    /// The maximum length of a displayed string in bytes.
    private static let limit = 160

    /// Returns the string, or its prefix with an ellipsis if it is too long.
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
