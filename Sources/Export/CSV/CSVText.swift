import JSONText
import Telemetry

/// The functions that format rows as CSV, with quotation marks only where they are required.
///
/// NULL is formatted as an empty field, and an empty string as `""`. Each row ends with a line feed.
///
/// Source: RFC 4180; "Exports", section 1.
enum CSVText {
    /// The treatment of text that a spreadsheet program would evaluate as a formula.
    enum Style: Sendable {
        /// Text is unchanged.
        case plain
        /// Text that a spreadsheet program would evaluate as a formula is preceded by an apostrophe.
        case spreadsheet
    }

    static func header(of table: Table) -> [UInt8] {
        Array((table.columns.map(\.name).joined(separator: ",") + "\n").utf8)
    }

    /// Appends the rows of a table, and returns the length, in bytes, of the longest row.
    static func append(
        rowsOfTableAt index: Int, _ table: Table, in buffer: RowBuffer, style: Style, to output: inout TextBuffer
    ) -> Int {
        let cells = buffer.cells[index]
        guard !cells.isEmpty else { return 0 }
        var longestRow = 0
        let text = buffer.text[0..<buffer.text.count]
        var previousRow = PreviousRow(columnCount: table.columns.count)
        for row in 0..<cells.count / previousRow.columnCount {
            let first = row * previousRow.columnCount
            let rowStart = output.count
            var column = 0
            while column < previousRow.columnCount {
                let same = previousRow.repeatedCellCount(cells, first, column)
                if same > 0 {
                    previousRow.repeatFields(column, same, to: &output)
                    column += same
                } else {
                    let start = output.count
                    append(cells[first + column], text.span, style, to: &output)
                    output.append(column == previousRow.columnCount - 1 ? UInt8(ascii: "\n") : UInt8(ascii: ","))
                    previousRow.fieldRanges[column] = start..<output.count
                    column += 1
                }
            }
            longestRow = max(longestRow, output.count - rowStart)
        }
        return longestRow
    }

    /// The ranges of the fields of the previous row in the output.
    ///
    /// Rows of the same record have many equal cells. Their fields are copied instead of being formatted again.
    private struct PreviousRow {
        let columnCount: Int
        var fieldRanges: [Range<Int>]

        init(columnCount: Int) {
            self.columnCount = columnCount
            fieldRanges = Array(repeating: 0..<0, count: columnCount)
        }

        /// Returns the number of consecutive cells, starting at `column`, that equal the same cells of the previous
        /// row.
        func repeatedCellCount(_ cells: [Cell], _ first: Int, _ column: Int) -> Int {
            guard first > 0 else { return 0 }
            var same = 0
            while column + same < columnCount,
                cells[first + column + same] == cells[first + column + same - columnCount]
            {
                same += 1
            }
            return same
        }

        /// Copies `same` fields, starting at `column`, from the previous row to the output.
        mutating func repeatFields(_ column: Int, _ same: Int, to output: inout TextBuffer) {
            let shift = output.count - fieldRanges[column].lowerBound
            output.append(copyOf: fieldRanges[column].lowerBound..<fieldRanges[column + same - 1].upperBound)
            for field in column..<column + same {
                fieldRanges[field] = fieldRanges[field].lowerBound + shift..<fieldRanges[field].upperBound + shift
            }
        }
    }

    private static func append(_ cell: Cell, _ text: Span<UInt8>, _ style: Style, to output: inout TextBuffer) {
        switch cell {
        case .null: break
        case .integer(let number):
            output.append(atMost: 26) { writer in
                if number < 0 { writer.append(UInt8(ascii: "-")) }
                writer.append(decimal: number.magnitude)
            }
        case .text(let start, let count):
            append(field: text.extracting(start..<start + Int(count)), style: style, to: &output)
        case .real(let start, let count): output.append(copying: text.extracting(start..<start + Int(count)))
        }
    }

    static func append(field text: Span<UInt8>, style: Style = .plain, to output: inout TextBuffer) {
        let isEscaped = style == .spreadsheet && text.resemblesFormula
        guard text.needsQuotes else {
            if isEscaped { output.append(UInt8(ascii: "'")) }
            return output.append(copying: text)
        }
        output.append(atMost: 2 * text.count + 3) { writer in
            writer.append(UInt8(ascii: "\""))
            if isEscaped { writer.append(UInt8(ascii: "'")) }
            writer.append(copying: text, doubling: UInt8(ascii: "\""))
            writer.append(UInt8(ascii: "\""))
        }
    }
}

extension Span<UInt8> {
    /// Whether a spreadsheet program could evaluate a field with these bytes as a formula.
    fileprivate var resemblesFormula: Bool {
        guard !isEmpty else { return false }
        return switch self[0] {
        case UInt8(ascii: "-"): !isNegativeNumber
        case UInt8(ascii: "="), UInt8(ascii: "+"), UInt8(ascii: "@"), UInt8(ascii: "\t"), UInt8(ascii: "\r"): true
        default: false
        }
    }

    private var isNegativeNumber: Bool {
        count > 1 && self[1].isDigit && Double(String(decoding: copied(), as: UTF8.self)) != nil
    }

    /// Whether a field with these bytes must be in quotation marks.
    fileprivate var needsQuotes: Bool {
        guard !isEmpty else { return true }
        var index = 0
        while count &- index >= 8 {
            if word(at: index).csvSpecialBytes != 0 { return true }
            index &+= 8
        }
        while index < count {
            if UInt64(self[index]).csvSpecialBytes & 0x80 != 0 { return true }
            index &+= 1
        }
        return false
    }
}

/// Eight bytes that are examined at the same time. The first byte is the least significant.
extension UInt64 {
    /// A mask that contains the high bit of the first quotation mark, comma, line feed or carriage return.
    ///
    /// The mask is 0 if there is no such byte. The high bits of later bytes can also be set.
    @inline(__always)
    fileprivate var csvSpecialBytes: UInt64 {
        (zeros(of: 0x2222_2222_2222_2222) | zeros(of: 0x2C2C_2C2C_2C2C_2C2C) | zeros(of: 0x0A0A_0A0A_0A0A_0A0A)
            | zeros(of: 0x0D0D_0D0D_0D0D_0D0D)) & 0x8080_8080_8080_8080
    }

    @inline(__always)
    private func zeros(of pattern: UInt64) -> UInt64 {
        let bytes = self ^ pattern
        return (bytes &- 0x0101_0101_0101_0101) & ~bytes
    }
}
