import Bytes
import Telemetry

/// The rows of a table in a buffer.
///
/// There are no rows if the buffer does not contain the table.
struct TableRows {
    private let buffer: RowBuffer
    private let cells: [Cell]
    /// The indices of the columns.
    private let columns: [CapturedText: Int]
    /// The index of the column that contains the record number of each row, or `nil` if the table has no such column.
    private let recordColumn: Int?
    /// The index of the first row that `nextRows(ofRecord:)` has not returned.
    private var nextRow = 0
    let count: Int

    init(_ table: Table, in buffer: RowBuffer) {
        self.buffer = buffer
        cells = buffer.index(ofTable: table.name).map { buffer.cells[$0] } ?? []
        columns = Dictionary(uniqueKeysWithValues: zip(table.columns.map { CapturedText($0.name) }, 0...))
        recordColumn = columns[TableColumn.record.name]
        count = cells.count / columns.count
    }

    /// Returns the index of the column named `name`, or `nil` if the table does not have it.
    func column(_ name: String) -> Int? { columns[name] }

    /// Returns the range of the rows of a record.
    ///
    /// Call this method for all records in ascending order.
    mutating func nextRows(ofRecord number: Cell) -> Range<Int> {
        let start = nextRow
        while nextRow < count, self[nextRow, recordColumn] == number { nextRow += 1 }
        return start..<nextRow
    }

    subscript(row: Int, column: Int?) -> Cell {
        guard let column else { return .null }
        return cells[row * columns.count + column]
    }

    func integer(_ row: Int, _ column: Int?) -> Int? {
        guard case .integer(let number) = self[row, column] else { return nil }
        return Int(number)
    }

    /// Returns the bytes of a string cell, or `nil` for any other cell.
    func bytes(_ row: Int, _ column: Int?) -> ArraySlice<UInt8>? {
        guard case .text(let start, let count) = self[row, column] else { return nil }
        return buffer.bytes(start, count)
    }

    /// Returns the string in a cell, truncated for display, or `nil` if the cell does not contain a string.
    func text(_ row: Int, _ column: Int?) -> String? { bytes(row, column).map(DisplayText.truncated) }

    /// Returns the complete string in a cell, or `nil` if the cell does not contain a string.
    func fullText(_ row: Int, _ column: Int?) -> String? {
        bytes(row, column).map { String(decoding: $0, as: UTF8.self) }
    }
}

/// The functions that shorten strings from captures for display on a page.
enum DisplayText {
    /// The maximum length of a displayed string in bytes.
    private static let maxLength = 160

    /// Returns the bytes as a string.
    ///
    /// A long string is truncated and ends with an ellipsis.
    static func truncated(_ bytes: ArraySlice<UInt8>) -> String {
        let start = bytes.utf8Prefix(maxLength)
        let text = String(decoding: start, as: UTF8.self)
        return start.count < bytes.count ? text + "…" : text
    }

    static func truncated(_ text: String) -> String { truncated(Array(text.utf8)[...]) }
}

extension ArraySlice<UInt8> {
    /// Returns the longest prefix of at most `maxLength` bytes that does not end within a UTF-8 character.
    func utf8Prefix(_ maxLength: Int) -> Self {
        guard count > maxLength else { return self }
        var end = startIndex + maxLength
        while end > startIndex, self[end] & 0xC0 == 0x80 { end -= 1 }
        return self[..<end]
    }
}
