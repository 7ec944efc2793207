import Bytes

/// A text table with aligned columns, in which columns of numbers are aligned to the right.
public struct TextTable {
    private let header: [String]
    private let rows: [[String]]

    /// Creates a table from rows with as many cells as `header`, and escapes unprintable characters.
    public init(header: [String], rows: [[String]]) {
        self.header = header
        self.rows = rows.map { $0.map(\.printable) }
    }

    /// The lines of the table, without trailing spaces.
    public var lines: [String] {
        let columns = header.indices.map { column in
            let cells = rows.map { $0[column] }
            return (
                width: ([header[column]] + cells).map(\.count).max() ?? 0,
                isNumeric: cells.allSatisfy { $0.utf8.allSatisfy(\.isDigit) }
            )
        }
        return ([header] + rows).map { row in
            let cells = zip(row, columns).map { cell, column in
                let padding = String(repeating: " ", count: column.width - cell.count)
                return column.isNumeric ? padding + cell : cell + padding
            }
            let line = cells.joined(separator: "  ")
            return String(line.reversed().drop { $0 == " " }.reversed())
        }
    }
}
