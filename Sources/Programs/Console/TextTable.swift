import Bytes

/// Rows of text in aligned columns; a column whose cells are all numbers is aligned to the right.
public struct TextTable {
    private let header: [String]
    private let rows: [[String]]

    /// Makes a table. Each row has as many cells as the header; what cannot be seen in one is shown.
    public init(header: [String], rows: [[String]]) {
        self.header = header
        self.rows = rows.map { $0.map(\.printable) }
    }

    /// The table, line by line, without trailing spaces.
    public var lines: [String] {
        let columns = header.indices.map { column in
            let cells = rows.map { $0[column] }
            return (
                width: ([header[column]] + cells).map(\.count).max() ?? 0,
                isNumeric: cells.allSatisfy { $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }
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
