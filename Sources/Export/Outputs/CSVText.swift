import Bytes
import JSONText
import Telemetry

/// The functions that format rows as CSV, with quotation marks only where they are required, except for spreadsheets.
///
/// NULL is formatted as an empty field, and an empty string as `""`. Each row ends with a line feed.
///
/// Source: RFC 4180; "Exports", section 1.
enum CSVText {
    /// The treatment of text that a spreadsheet program would evaluate as a formula.
    enum Style: Sendable {
        /// Text is unchanged.
        case plain
        /// All text is in quotation marks, and each part of it that a spreadsheet program could take for the start of a
        /// cell with a formula is preceded by an apostrophe. A file begins with a byte order mark, without which some
        /// programs do not recognize UTF-8. Text that does not fit into a cell is truncated.
        case spreadsheet
    }

    /// The properties of formatted rows.
    struct Summary: Equatable {
        /// The length, in bytes, of the longest row.
        var longestRow = 0
        /// The number of cells whose text is truncated.
        var truncatedCellCount = 0
    }

    static func header(of table: Table, style: Style) -> [UInt8] {
        let names = table.columns.map(\.name).joined(separator: ",")
        return switch style {
        case .plain: Array("\(names)\n".utf8)
        case .spreadsheet: Array("\u{FEFF}\(names)\n".utf8)
        }
    }

    /// Appends the rows of a table, and returns their properties.
    ///
    /// Rows of the same record have many equal cells. Their fields are copied from the previous row instead of being
    /// formatted again.
    static func append(
        rowsOfTableAt index: Int, _ table: Table, in buffer: RowBuffer, style: Style, to output: inout TextBuffer
    ) -> Summary {
        var summary = Summary()
        let text = buffer.text[0..<buffer.text.count]
        let cells = buffer.cells[index]
        let columnCount = table.columns.count
        // The fields of the previous row with their separators, and whether they are truncated.
        var fields = Array(repeating: (length: 0, isTruncated: false), count: columnCount)
        var previousStart = 0
        for first in stride(from: 0, to: cells.count, by: columnCount) {
            let rowStart = output.count
            // The range of the fields of the previous row that equal those which have not been appended yet.
            var equal = previousStart..<previousStart
            for column in 0..<columnCount {
                let end = equal.upperBound + fields[column].length
                if first > 0, cells[first + column] == cells[first + column - columnCount] {
                    equal = equal.lowerBound..<end
                } else {
                    output.append(copyOf: equal)
                    equal = end..<end
                    let start = output.count
                    fields[column].isTruncated = append(cells[first + column], text.span, style, to: &output)
                    output.append(column == columnCount - 1 ? UInt8(ascii: "\n") : UInt8(ascii: ","))
                    fields[column].length = output.count - start
                }
                if fields[column].isTruncated { summary.truncatedCellCount += 1 }
            }
            output.append(copyOf: equal)
            summary.longestRow = max(summary.longestRow, output.count - rowStart)
            previousStart = rowStart
        }
        return summary
    }

    /// Appends a cell, and returns whether its text is truncated.
    private static func append(
        _ cell: Cell, _ text: Span<UInt8>, _ style: Style, to output: inout TextBuffer
    ) -> Bool {
        switch cell {
        case .null: break
        case .integer(let number):
            output.append(signedDecimal: number)
        case .text(let start, let count):
            return append(field: text.extracting(start..<start + Int(count)), style: style, to: &output)
        case .real(let start, let count): output.append(copying: text.extracting(start..<start + Int(count)))
        }
        return false
    }

    /// Appends a field with text, and returns whether the text is truncated.
    @discardableResult
    static func append(field text: Span<UInt8>, style: Style = .plain, to output: inout TextBuffer) -> Bool {
        switch style {
        case .plain where !text.needsQuotes: output.append(copying: text)
        case .plain: append(quoted: text, to: &output)
        case .spreadsheet:
            let escaped = text.withoutFormulas
            // A character has at least one byte, so that short text fits into a cell.
            if escaped?.utf8.count ?? text.count > SpreadsheetCell.maximumLength,
                let truncated = SpreadsheetCell.truncated(escaped ?? String(readingUTF8: text))
            {
                append(quoted: truncated.utf8.span, to: &output)
                return true
            }
            if let escaped {
                append(quoted: escaped.utf8.span, to: &output)
            } else {
                append(quoted: text, to: &output)
            }
        }
        return false
    }

    private static func append(quoted text: Span<UInt8>, to output: inout TextBuffer) {
        output.append(atMost: 2 * text.count + 2) { writer in
            writer.append(UInt8(ascii: "\""))
            writer.append(copying: text, doubling: UInt8(ascii: "\""))
            writer.append(UInt8(ascii: "\""))
        }
    }
}

// MARK: - Spreadsheets

/// The maximum length of the text in a cell of a spreadsheet.
enum SpreadsheetCell {
    /// The maximum length in code units of UTF-16.
    ///
    /// Source: Microsoft, "Excel specifications and limits".
    static let maximumLength = 32_767

    /// Returns the start of `text`, followed by a mark with the length of the text, or `nil` if the text fits into a cell.
    static func truncated(_ text: String) -> String? {
        let length = text.utf16.count
        guard length > maximumLength else { return nil }
        let mark = "… [truncated: \(length) characters]"
        var rest = maximumLength - mark.utf16.count
        var start = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            rest -= UTF16.width(scalar)
            guard rest >= 0 else { break }
            start.append(scalar)
        }
        return String(start) + mark
    }
}

/// The characters with a meaning at the start of a cell.
///
/// A spreadsheet program that expects another separator than the comma does not recognize the quotation marks of all
/// fields. It then splits text at each of its separators and at line ends. Therefore, each of the parts is examined. The
/// comma needs no attention, because a program that splits fields at commas recognizes the quotation marks.
private enum FormulaCharacter {
    /// The ASCII signs with which a formula begins, their variants in other widths, and the minus sign.
    static func isSign(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x2B, 0x2D, 0x3D, 0x40, 0x2212, 0xFE62, 0xFE63, 0xFE66, 0xFE6B, 0xFF0B, 0xFF0D, 0xFF1D, 0xFF20: true
        default: false
        }
    }

    /// Whether a program could split text at the character.
    static func isSeparator(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09...0x0D, 0x3B, 0x7C, 0x85, 0x2028, 0x2029: true
        default: false
        }
    }

    /// Whether a program could ignore the character at the start of a cell.
    static func isIgnored(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value <= 0x20 || scalar == "\"" || scalar.properties.isWhitespace || scalar.isInvisible
    }
}

extension Span<UInt8> {
    /// The text with an apostrophe before each part that resembles a formula, or `nil` if no part does.
    fileprivate var withoutFormulas: String? {
        guard mayContainFormula else { return nil }
        let scalars = Array(String(decoding: copied(), as: UTF8.self).unicodeScalars)
        var escaped = String.UnicodeScalarView()
        // Some programs reject or evaluate text that begins with a control character.
        if let first = scalars.first, first.value < 0x20 { escaped.append("'") }
        var isAtStart = true
        for (index, scalar) in scalars.enumerated() {
            if isAtStart, FormulaCharacter.isSign(scalar), !Self.isNegativeNumber(scalars[index...]) {
                escaped.append("'")
            }
            isAtStart = FormulaCharacter.isSeparator(scalar) || isAtStart && FormulaCharacter.isIgnored(scalar)
            escaped.append(scalar)
        }
        return escaped.count > scalars.count ? String(escaped) : nil
    }

    /// Whether the text contains a byte that can be part of a sign or is a control character.
    private var mayContainFormula: Bool {
        for index in indices {
            switch self[index] {
            case 0..<0x20, 0x2B, 0x2D, 0x3D, 0x40, 0xE2, 0xEF: return true
            default: continue
            }
        }
        return false
    }

    /// Returns whether a part of a text begins with a negative number that is not the start of a formula.
    ///
    /// The number ends at the end of the text, at a separator, or at a character that follows a number in JSON.
    private static func isNegativeNumber(_ scalars: ArraySlice<Unicode.Scalar>) -> Bool {
        guard scalars.first == "-" else { return false }
        let number = scalars.prefix { (0x30...0x39).contains($0.value) || "+-.eE".unicodeScalars.contains($0) }
        var text = String.UnicodeScalarView()
        text.append(contentsOf: number)
        guard number.count > 1, (0x30...0x39).contains(number[number.startIndex + 1].value), Double(String(text)) != nil
        else {
            return false
        }
        guard let next = scalars.dropFirst(number.count).first else { return true }
        return FormulaCharacter.isSeparator(next) || "\",]}".unicodeScalars.contains(next)
    }
}

extension Span<UInt8> {
    /// Whether a field with these bytes must be in quotation marks.
    fileprivate var needsQuotes: Bool {
        guard !isEmpty else { return true }
        for index in indices {
            switch self[index] {
            case UInt8(ascii: "\""), UInt8(ascii: ","), UInt8(ascii: "\n"), UInt8(ascii: "\r"): return true
            default: continue
            }
        }
        return false
    }
}
