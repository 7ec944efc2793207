import Bytes
import Files

/// A text table with aligned columns.
///
/// Columns of numbers are aligned to the right. The rows are read twice, so that each row can be created on access.
public struct TextTable<Rows: Collection<[String]>> {
    private let header: [String]
    private let rows: Rows
    private var columns: [TextColumn]

    /// Creates a table from rows with as many cells as `header`, and escapes unprintable characters.
    public init(header: [String], rows: Rows) {
        self.header = header
        self.rows = rows
        columns = header.map { TextColumn(width: $0.count) }
        for row in rows {
            for (index, cell) in row.enumerated() { columns[index].fit(cell.printable) }
        }
    }

    /// The lines of the table, without trailing spaces.
    public var lines: [String] {
        var lines: [String] = []
        forEachLine { lines.append($0) }
        return lines
    }

    /// Calls `body` with each line of the table, without trailing spaces.
    public func forEachLine<Failure>(_ body: (String) throws(Failure) -> Void) throws(Failure) {
        try body(line(header))
        for row in rows { try body(line(row)) }
    }

    private func line(_ row: [String]) -> String {
        var line = zip(columns, row).map { $0.padded($1.printable) }.joined(separator: "  ")
        while line.last == " " { line.removeLast() }
        return line
    }

    /// Prints the table, indented, below an empty line and `title`, unless it has no rows.
    ///
    /// `count` is the number of rows including those that are not in the table, or `nil` if the table has all rows.
    public func print(titled title: String, of count: Int? = nil) throws(FileError) {
        guard !rows.isEmpty else { return }
        try Terminal.print("")
        try Terminal.print("\(title):")
        try forEachLine { line throws(FileError) in try Terminal.print("  " + line) }
        let hiddenCount = (count ?? 0) - rows.count
        if hiddenCount > 0 { try Terminal.print("  and \(hiddenCount) more; --json lists all") }
    }
}

/// The width and the alignment of a column of a table.
private struct TextColumn {
    var width: Int
    private var isNumeric = true

    init(width: Int) { self.width = width }

    mutating func fit(_ cell: String) {
        width = max(width, cell.count)
        isNumeric = isNumeric && cell.utf8.allSatisfy(\.isDigit)
    }

    func padded(_ cell: String) -> String {
        let padding = String(repeating: " ", count: width - cell.count)
        return isNumeric ? padding + cell : cell + padding
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
