import Bytes
import JSONText
import SQLite
import Telemetry

/// The tree of a table or an index in an SQLite database, and the columns of its records.
///
/// Source: SQLite, "Database File Format", sections 2.1 to 2.6.
struct SQLiteTree: Sendable {
    let kind: TreeWriter.Kind
    /// The index of the table in a buffer of rows.
    private let table: Int
    private let columnCount: Int
    /// The indices of the columns of a record, in the order in which they are stored.
    private let columns: [Int]
    /// The index of the column with the key of a row, if the key is not part of the record.
    private let rowIDColumn: Int?
    /// The indices of the columns by which records are sorted, or an empty array if rows are added in their order.
    private let sortColumns: [Int]

    /// Whether records must be sorted before they are added to the tree.
    var isSorted: Bool { !sortColumns.isEmpty }

    /// Creates the tree of the table at `index` of `tables`.
    private init(tableAt index: Int, of tables: [Table]) {
        let columns = tables[index].columns
        table = index
        columnCount = columns.count
        rowIDColumn = tables[index].rowIDColumn
        let key = rowIDColumn == nil ? tables[index].columnIndices(tables[index].key) : []
        self.columns = key + columns.indices.filter { !key.contains($0) }
        kind = rowIDColumn == nil ? .index : .table
        // The rows of tables with numbers as keys are added in the order of the numbers.
        sortColumns = key.allSatisfy { columns[$0].kind == .integer } ? [] : key
    }

    /// Creates the tree of an index over the columns with `names`.
    private init(indexOver names: [String], ofTableAt index: Int, of tables: [Table]) {
        table = index
        columnCount = tables[index].columns.count
        rowIDColumn = nil
        kind = .index
        sortColumns = tables[index].columnIndices(names)
        columns = sortColumns + tables[index].columnIndices(tables[index].key)
    }

    /// Returns the trees of `tables`, followed by the trees of their indexes.
    static func trees(of tables: [Table]) -> [SQLiteTree] {
        tables.indices.map { SQLiteTree(tableAt: $0, of: tables) }
            + tables.indices.flatMap { index in
                tables[index].indexes.map { SQLiteTree(indexOver: $0, ofTableAt: index, of: tables) }
            }
    }

    /// Appends the cells of all rows in `rows`.
    func appendCells(of rows: RowBuffer, to output: inout TextBuffer) {
        let cells = rows.cells[table]
        for row in 0..<cells.count / columnCount { append(row, cells.span, rows.text.span, to: &output) }
    }

    /// Appends the sorted cells of all rows in `rows`, with a line for all cells of the same key.
    func appendSortedCells(of rows: RowBuffer, to lines: inout RankedLines) {
        struct Group {
            let rank: Int64
            let key: Range<Int>
            var rows: Range<Int>
        }
        let cells = rows.cells[table]
        var keys = TextBuffer()
        var groups: [Group] = []
        for row in 0..<cells.count / columnCount {
            let first = row * columnCount
            // Most rows have the same client and time as the row before them.
            if row > 0, sortColumns.allSatisfy({ cells[first + $0] == cells[first + $0 - columnCount] }) {
                groups[groups.count - 1].rows = groups[groups.count - 1].rows.lowerBound..<row + 1
                continue
            }
            let start = keys.count
            for column in sortColumns { Self.append(key: cells[first + column], of: rows.text.span, to: &keys) }
            let rank = keys.span.extracting(start...).prefixAsNumber ^ 1 << 63
            groups.append(
                Group(
                    rank: Int64(bitPattern: rank), key: min(start + 8, keys.count)..<keys.count, rows: row..<row + 1))
        }
        groups.sort { left, right in
            if left.rank != right.rank { return left.rank < right.rank }
            let order = keys.span.extracting(left.key).ordered(against: keys.span.extracting(right.key))
            return order == 0 ? left.rows.lowerBound < right.rows.lowerBound : order < 0
        }
        var index = 0
        while index < groups.count {
            let (rank, key) = (groups[index].rank, keys.span.extracting(groups[index].key))
            lines.append(at: rank, key: key) { output in
                repeat {
                    for row in groups[index].rows { append(row, cells.span, rows.text.span, to: &output) }
                    index += 1
                } while index < groups.count && groups[index].rank == rank
                    && keys.span.extracting(groups[index].key).equals(key)
            }
        }
    }

    /// Appends a key, of which the order of the bytes is the order of the values.
    private static func append(key cell: Cell, of text: Span<UInt8>, to output: inout TextBuffer) {
        switch cell {
        case .null, .real: output.append(0)
        case .integer(let number):
            output.append(atMost: 9) { writer in
                writer.append(1)
                writer.append(bigEndian: UInt64(bitPattern: number) ^ 1 << 63, byteCount: 8)
            }
        case .text(let start, let count):
            // The end of a string precedes every character. A NUL is followed by a byte that marks it as a character.
            output.append(2)
            let text = text.extracting(start..<start + Int(count))
            var index = 0
            while index < text.count {
                let end = text.firstIndex(of: 0, from: index) ?? text.count
                output.append(copying: text.extracting(index..<end))
                if end < text.count { output.append(atMost: 2) { $0.append(bigEndian: 0x00FF, byteCount: 2) } }
                index = end + 1
            }
            output.append(atMost: 2) { $0.append(bigEndian: 0x0001, byteCount: 2) }
        }
    }

    /// Appends the cell of a row.
    private func append(_ row: Int, _ cells: Span<Cell>, _ text: Span<UInt8>, to output: inout TextBuffer) {
        let first = row * columnCount
        var (typesSize, valuesSize) = (0, 0)
        for column in columns where column != rowIDColumn {
            let value = StoredValue(cells[first + column], text)
            typesSize += value.type.variableSize
            valuesSize += value.size
        }
        if rowIDColumn != nil { typesSize += 1 }
        // The size of the header includes the size of this number.
        let headerSize = typesSize + (typesSize + 1).variableSize
        output.append(atMost: headerSize + valuesSize + 20) { writer in
            writer.append(variable: UInt64(headerSize + valuesSize))
            if let rowIDColumn, case .integer(let number) = cells[first + rowIDColumn] {
                writer.append(variable: UInt64(bitPattern: number))
            }
            writer.append(variable: UInt64(headerSize))
            for column in columns {
                // The key of a row is null in its record.
                writer.append(
                    variable: column == rowIDColumn ? 0 : StoredValue(cells[first + column], text).type)
            }
            for column in columns where column != rowIDColumn {
                let cell = cells[first + column]
                let value = StoredValue(cell, text)
                switch cell {
                case .null: break
                case .text(let start, let count):
                    writer.append(copying: text.extracting(start..<start + Int(count)))
                case .integer, .real: writer.append(bigEndian: value.bits, byteCount: value.size)
                }
            }
        }
    }
}

/// The form in which a value is stored in a record.
private struct StoredValue {
    /// The number of the type.
    let type: UInt64
    /// The number of bytes of the value.
    let size: Int
    /// The value of a number, in the lowest ``size`` bytes.
    var bits: UInt64 = 0

    init(_ cell: Cell, _ text: Span<UInt8>) {
        switch cell {
        case .null: (type, size) = (0, 0)
        case .text(_, let count): (type, size) = (13 + 2 * UInt64(count), Int(count))
        case .real(let start, let count):
            let number = Double(String(readingUTF8: text.extracting(start..<start + Int(count))))
            // Infinity is stored as NULL.
            bits = number?.bitPattern ?? 0
            (type, size) = number?.isFinite == true ? (7, 8) : (0, 0)
        case .integer(let number):
            bits = UInt64(bitPattern: number)
            switch 65 - (number < 0 ? ~number : number).leadingZeroBitCount {
            case 1: (type, size) = number == 0 ? (8, 0) : (1, 1)
            case 2 where number == 1: (type, size) = (9, 0)
            case ...8: (type, size) = (1, 1)
            case ...16: (type, size) = (2, 2)
            case ...24: (type, size) = (3, 3)
            case ...32: (type, size) = (4, 4)
            case ...48: (type, size) = (5, 6)
            default: (type, size) = (6, 8)
            }
        }
    }
}

extension TextWriter {
    /// Appends the lowest bytes of a number, beginning with the highest of them.
    fileprivate mutating func append(bigEndian number: UInt64, byteCount: Int) {
        for index in 0..<byteCount { append(UInt8(truncatingIfNeeded: number >> UInt64(8 * (byteCount - 1 - index)))) }
    }

    /// Appends a number with seven bits in each byte, or with eight bits in the ninth byte.
    fileprivate mutating func append(variable number: UInt64) {
        let size = number.variableSize
        for index in 0..<size - 1 {
            let shift = size == 9 ? 8 + 7 * (7 - index) : 7 * (size - 1 - index)
            append(UInt8(truncatingIfNeeded: number >> UInt64(shift)) | 0x80)
        }
        append(UInt8(truncatingIfNeeded: number) & (size == 9 ? 0xFF : 0x7F))
    }
}

extension FixedWidthInteger {
    /// The number of bytes of the number with seven bits in each byte, or with eight bits in the ninth byte.
    fileprivate var variableSize: Int { Swift.min(9, Swift.max(1, (bitWidth - leadingZeroBitCount + 6) / 7)) }
}

extension Table {
    /// The index of the column whose integers are the keys of the rows in SQLite, or `nil` if there is none.
    var rowIDColumn: Int? {
        columns.firstIndex { key == [$0.name] && ($0.kind == .integer || $0.kind == .flag) }
    }

    /// Returns the indices of the columns with `names`.
    fileprivate func columnIndices(_ names: [String]) -> [Int] {
        names.compactMap { name in columns.firstIndex { $0.name == name } }
    }
}
