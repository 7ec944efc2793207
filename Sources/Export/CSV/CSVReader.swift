import Bytes

/// A parser for CSV text that is added byte by byte.
///
/// Fields in quotation marks can contain commas, line feeds and doubled quotation marks. Rows end with a line feed or
/// with a carriage return and a line feed. Empty lines are ignored.
///
/// Source: RFC 4180.
struct CSVReader {
    /// The maximum size, in bytes, of the fields of a row.
    static let rowSizeLimit = 64 << 10
    /// The maximum number of fields in a row.
    static let fieldLimit = 256

    private enum State {
        case fieldStart
        case unquoted
        case quoted
        /// The state after a quotation mark in a quoted field. The quotation mark ends the field unless it is doubled.
        case quotationMark
    }

    /// The fields of the last complete row.
    private(set) var fields: [[UInt8]] = []
    /// The number of the line, from 1, on which the last complete row starts.
    private(set) var line = 1
    private var pendingFields: [[UInt8]] = []
    private var field: [UInt8] = []
    private var state = State.fieldStart
    /// Whether a field of the row is in quotation marks.
    private var hasQuotes = false
    private var size = 0
    private var rowLine = 1
    private var currentLine = 1

    /// Adds a byte, and returns whether it completes a row.
    ///
    /// - Throws: ``ExpectedListError`` with the number of the line.
    mutating func add(_ byte: UInt8) throws(ExpectedListError) -> Bool {
        if byte == UInt8(ascii: "\n") { currentLine += 1 }
        switch (state, byte) {
        case (.quoted, UInt8(ascii: "\"")): state = .quotationMark
        case (.quoted, _): try append(byte)
        case (.quotationMark, UInt8(ascii: "\"")):
            try append(byte)
            state = .quoted
        case (.quotationMark, UInt8(ascii: "\r")): break
        case (_, UInt8(ascii: ",")): try endField()
        case (_, UInt8(ascii: "\n")): return try endRow()
        case (.fieldStart, UInt8(ascii: "\"")):
            hasQuotes = true
            state = .quoted
        case (.fieldStart, _), (.unquoted, _):
            guard byte != UInt8(ascii: "\"") else {
                throw ExpectedListError(line: rowLine, .syntax("a quotation mark within an unquoted field"))
            }
            try append(byte)
            state = .unquoted
        case (.quotationMark, _):
            throw ExpectedListError(line: rowLine, .syntax("text after a closing quotation mark"))
        }
        return false
    }

    /// Ends the text, and returns whether its end completes a row.
    ///
    /// - Throws: ``ExpectedListError`` with the number of the line.
    mutating func finish() throws(ExpectedListError) -> Bool {
        if state == .quoted { throw ExpectedListError(line: rowLine, .syntax("a quotation mark is not closed")) }
        return try endRow()
    }

    private mutating func append(_ byte: UInt8) throws(ExpectedListError) {
        size += 1
        guard size <= Self.rowSizeLimit else { throw ExpectedListError(line: rowLine, .tooLong) }
        field.append(byte)
    }

    private mutating func endField() throws(ExpectedListError) {
        guard pendingFields.count < Self.fieldLimit else { throw ExpectedListError(line: rowLine, .tooLong) }
        pendingFields.append(field)
        field.removeAll(keepingCapacity: true)
        state = .fieldStart
    }

    private mutating func endRow() throws(ExpectedListError) -> Bool {
        if state == .unquoted, field.last == UInt8(ascii: "\r") { field.removeLast() }
        try endField()
        defer {
            pendingFields.removeAll(keepingCapacity: true)
            hasQuotes = false
            size = 0
            rowLine = currentLine
        }
        if pendingFields.count == 1, pendingFields[0].isEmpty, !hasQuotes { return false }
        fields = pendingFields
        line = rowLine
        return true
    }
}
