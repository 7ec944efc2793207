import Bytes

/// A text table with aligned columns.
///
/// Columns of numbers are aligned to the right. The rows are read twice, so that each row can be created on access.
public struct TextTable<Rows: Collection<[String]>> {
    private let header: [String]
    private let rows: Rows
    private var columns: TextColumns

    /// Creates a table from rows with as many cells as `header`, and escapes unprintable characters.
    public init(header: [String], rows: Rows) {
        self.header = header
        self.rows = rows
        columns = TextColumns(header: header)
        for row in rows { columns.add(row) }
    }

    /// The lines of the table, without trailing spaces.
    public var lines: [String] {
        var lines: [String] = []
        forEachLine { lines.append($0) }
        return lines
    }

    /// Calls `body` with each line of the table, without trailing spaces.
    public func forEachLine<Failure>(_ body: (String) throws(Failure) -> Void) throws(Failure) {
        try body(columns.line(header))
        for row in rows { try body(columns.line(row)) }
    }
}

/// The widths and the alignments of the columns of a table.
private struct TextColumns {
    private struct Column {
        var width: Int
        var isNumeric = true
    }

    private var columns: [Column]

    init(header: [String]) { columns = header.map { Column(width: $0.count) } }

    mutating func add(_ row: [String]) {
        for (index, cell) in row.enumerated() {
            let cell = cell.printable
            columns[index].width = max(columns[index].width, cell.count)
            columns[index].isNumeric = columns[index].isNumeric && cell.utf8.allSatisfy(\.isDigit)
        }
    }

    func line(_ row: [String]) -> String {
        var line = ""
        for (index, cell) in row.enumerated() {
            let (cell, column) = (cell.printable, columns[index])
            let padding = String(repeating: " ", count: column.width - cell.count)
            line += index == 0 ? "" : "  "
            line += column.isNumeric ? padding : cell
            line += column.isNumeric ? cell : padding
        }
        let end = line.utf8.lastIndex { $0 != UInt8(ascii: " ") }.map(line.utf8.index(after:)) ?? line.startIndex
        return String(line[..<end])
    }
}

/// Word wrapping at 80 columns.
public enum WrappedText {
    private static let width = 80

    /// Returns the lines of `text`, the first indented by `indent` spaces and the others by two more.
    public static func lines(of text: String, indent: Int) -> [String] {
        var lines: [String] = []
        for word in text.split(separator: " ") {
            if let last = lines.last, last.count + 1 + word.count <= width {
                lines[lines.count - 1] += " \(word)"
            } else {
                lines.append(String(repeating: " ", count: lines.isEmpty ? indent : indent + 2) + word)
            }
        }
        return lines.map { String($0.map { $0 == noBreakSpace ? " " : $0 }) }
    }

    /// The character that joins words that must stay on one line.
    public static let noBreakSpace: Character = "\u{A0}"
}
