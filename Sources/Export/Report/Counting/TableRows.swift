import Telemetry

/// The rows of one table of a buffer, read row by row.
struct TableRows {
    private let buffer: RowBuffer
    private let cells: [Cell]
    private let names: [String]
    /// How many rows there are.
    let count: Int

    /// A column, by its place in the row.
    struct Column {
        fileprivate let place: Int
    }

    /// - Returns: nil if the buffer has no such table.
    init?(_ table: Table, in buffer: RowBuffer) {
        guard let place = buffer.place(ofTable: table.name) else { return nil }
        self.buffer = buffer
        cells = buffer.cells[place]
        names = table.columns.map(\.name)
        count = cells.count / names.count
    }

    /// Finds a column; nil if the table has none of that name.
    func column(_ name: String) -> Column? { names.firstIndex(of: name).map(Column.init) }

    subscript(row: Int, column: Column?) -> Cell {
        guard let column else { return .null }
        return cells[row * names.count + column.place]
    }

    func integer(_ row: Int, _ column: Column?) -> Int? {
        guard case .integer(let number) = self[row, column] else { return nil }
        return Int(number)
    }

    /// A text, cut where it is too long to be shown.
    func text(_ row: Int, _ column: Column?) -> String? {
        guard case .text(let start, let count) = self[row, column] else { return nil }
        return ShownText.cut(buffer.bytes(start, count))
    }

    /// How many bytes a text has.
    func length(_ row: Int, _ column: Column?) -> Int {
        guard case .text(_, let count) = self[row, column] else { return 0 }
        return Int(count)
    }

    /// A text as it is, however long.
    func whole(_ row: Int, _ column: Column?) -> String? {
        guard case .text(let start, let count) = self[row, column] else { return nil }
        return String(decoding: buffer.bytes(start, count), as: UTF8.self)
    }
}

/// A text of a capture as a page shows it.
enum ShownText {
    /// A name of more bytes than these is no name that anybody reads.
    private static let limit = 160

    /// The text, or its beginning with an ellipsis.
    static func cut(_ bytes: ArraySlice<UInt8>) -> String {
        guard bytes.count > limit else { return String(decoding: bytes, as: UTF8.self) }
        var end = bytes.startIndex + limit
        // Not within a character.
        while end > bytes.startIndex, bytes[end] & 0xC0 == 0x80 { end -= 1 }
        return String(decoding: bytes[..<end], as: UTF8.self) + "…"
    }

    static func cut(_ text: String) -> String { cut(Array(text.utf8)[...]) }
}
