import Bytes
import JSONText
import Telemetry

/// A reader for a list of expected sequence numbers, such as the numbers that a server has received.
///
/// The list is NDJSON, or CSV with a header, and has the columns `system`, `client`, `type` and `seq`. Other columns
/// are ignored. The list can be passed to ``read(_:_:)`` in pieces that end at any byte.
///
/// ```swift
/// let bytes = Array("system,client,type,seq\nmozilla,C1,core,7".utf8)
/// var list = ExpectedList(Systems.table)
/// try list.read(bytes.span) { numbers.append($0.number) }
/// try list.finish { numbers.append($0.number) }  // 7
/// ```
public struct ExpectedList {
    /// The maximum number of rows in a list.
    public static let rowLimit = 100_000_000
    /// The maximum length of a line of NDJSON in bytes.
    static let lineLimit = 64 << 10

    private enum Format {
        /// No byte except white space has been read.
        case unknown
        case csv
        case ndjson
    }

    private let systems: SystemTable
    private var format = Format.unknown
    private var csv = CSVReader()
    /// The indices of the columns `system`, `client`, `type` and `seq`, or `nil` before the header is read.
    private var columns: [Int]?
    private var columnCount = 0
    private var line = LimitedBytes(byteLimit: lineLimit)
    private var lineNumber = 1
    private var document = JSONDocument()
    /// The bytes of an optional byte order mark at the start of the list that have not been read yet.
    private var remainingMark: ArraySlice<UInt8> = [0xEF, 0xBB, 0xBF]
    /// The number of rows that were read.
    public private(set) var rowCount = 0

    private static let columnNames = ["system", "client", "type", "seq"]
    private static let (system, client, type, number): (JSONKey, JSONKey, JSONKey, JSONKey) = (
        "system", "client", "type", "seq"
    )

    /// Creates a reader of a list with numbers of the given systems.
    public init(_ systems: SystemTable) {
        self.systems = systems
    }

    /// Reads the next bytes of the list, and calls `body` with each complete row.
    ///
    /// - Throws: ``ExpectedListError``, or an error that `body` throws.
    public mutating func read(_ bytes: Span<UInt8>, _ body: (ExpectedNumber) throws -> Void) throws {
        for index in bytes.indices { try add(bytes[index], body) }
    }

    /// Reads the last row if it does not end with a line feed.
    ///
    /// - Throws: ``ExpectedListError``, or an error that `body` throws.
    public mutating func finish(_ body: (ExpectedNumber) throws -> Void) throws {
        switch format {
        case .unknown, .csv: if try csv.finish() { try addCSVRow(body) }
        case .ndjson: try addLine(body)
        }
    }

    private mutating func add(_ byte: UInt8, _ body: (ExpectedNumber) throws -> Void) throws {
        if let expected = remainingMark.first {
            guard byte != expected else { return remainingMark = remainingMark.dropFirst() }
            remainingMark = []
        }
        if format == .unknown {
            switch byte {
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"): return
            case UInt8(ascii: "\n"): lineNumber += 1
            case UInt8(ascii: "{"): format = .ndjson
            default: format = .csv
            }
        }
        switch format {
        case .unknown, .csv: if try csv.add(byte) { try addCSVRow(body) }
        case .ndjson:
            guard byte == UInt8(ascii: "\n") else { return line.append(byte) }
            try addLine(body)
            lineNumber += 1
        }
    }

    // MARK: CSV

    private mutating func addCSVRow(_ body: (ExpectedNumber) throws -> Void) throws {
        let fields = csv.fields
        guard let columns else { return try readHeader(fields) }
        guard fields.count == columnCount else {
            throw ExpectedListError(
                line: csv.line, .syntax("\(fields.count.counted("field")) instead of the \(columnCount) of the header"))
        }
        let texts = try columns.map { column throws(ExpectedListError) in
            guard let text = String(validating: fields[column], as: UTF8.self) else {
                throw ExpectedListError(line: csv.line, .syntax("malformed UTF-8"))
            }
            return text
        }
        let digits = fields[columns[3]]
        try add(
            system: texts[0], client: texts[1], type: texts[2], number: Int64(decimal: digits.span), line: csv.line,
            body)
    }

    private mutating func readHeader(_ fields: [[UInt8]]) throws(ExpectedListError) {
        let names = fields.map { String(decoding: $0, as: UTF8.self) }
        var columns: [Int] = []
        for name in Self.columnNames {
            guard let column = names.firstIndex(of: name) else {
                throw ExpectedListError(line: csv.line, .syntax("no column \(name) in the header"))
            }
            guard names.lastIndex(of: name) == column else {
                throw ExpectedListError(line: csv.line, .syntax("two columns \(name) in the header"))
            }
            columns.append(column)
        }
        self.columns = columns
        columnCount = names.count
    }

    // MARK: NDJSON

    private mutating func addLine(_ body: (ExpectedNumber) throws -> Void) throws {
        defer { line.removeAll() }
        guard !line.isTooLong else { throw ExpectedListError(line: lineNumber, .tooLong) }
        guard line.bytes.contains(where: { !$0.isBlank }) else { return }
        do throws(JSONError) {
            try document.read(line.bytes)
        } catch {
            throw ExpectedListError(line: lineNumber, .syntax("\(error)"))
        }
        let root = document.root
        guard document.kind(of: root) == .object else {
            throw ExpectedListError(line: lineNumber, .syntax("not a JSON object"))
        }
        guard let system = text(Self.system), let client = text(Self.client), let type = text(Self.type) else {
            throw ExpectedListError(line: lineNumber, .syntax("system, client and type must be strings"))
        }
        let number = document.value(of: Self.number, .number, in: root).flatMap {
            Int64(decimal: document.bytes(of: $0))
        }
        try add(system: system, client: client, type: type, number: number, line: lineNumber, body)
    }

    private func text(_ key: JSONKey) -> String? {
        document.value(of: key, .string, in: document.root).map { document.string(of: $0) }
    }

    // MARK: Rows

    private mutating func add(
        system name: String, client: String, type: String, number: Int64?, line: Int,
        _ body: (ExpectedNumber) throws -> Void
    ) throws {
        guard let system = systems.name(name) else { throw ExpectedListError(line: line, .unknownSystem(name)) }
        guard systems[system]?.sequence?.isNumbered(type) == true else {
            throw ExpectedListError(line: line, .unnumbered(name, type: type))
        }
        guard !client.isEmpty else { throw ExpectedListError(line: line, .syntax("client is empty")) }
        guard let number, number >= 0 else { throw ExpectedListError(line: line, .number) }
        guard rowCount < Self.rowLimit else { throw ExpectedListError(line: line, .tooManyRows) }
        rowCount += 1
        try body(ExpectedNumber(system: system, client: client, type: type, number: number))
    }
}

/// A row of an expected list.
public struct ExpectedNumber: Sendable, Equatable {
    /// The system of the upload.
    public let system: SystemName
    /// The id of the client, which is not empty.
    public let client: String
    /// The type of the upload.
    public let type: String
    /// The sequence number of the upload, which is not negative.
    public let number: Int64
}

/// An error in a list of sequence numbers.
public struct ExpectedListError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The reason why a list cannot be read.
    public enum Reason: Sendable, Equatable {
        /// The text is malformed, as described by the given message.
        case syntax(String)
        /// A line is too long, or a row is too long or has too many fields.
        case tooLong
        /// The list has too many rows.
        case tooManyRows
        /// No system has the given name.
        case unknownSystem(String)
        /// Uploads of the given system and type are not numbered.
        case unnumbered(String, type: String)
        /// The number is not an integer from 0 to 2⁶³ − 1.
        case number
    }

    /// The number of the line with the error, starting at 1.
    public let line: Int
    /// The reason why the list cannot be read.
    public let reason: Reason

    init(line: Int, _ reason: Reason) {
        self.line = line
        self.reason = reason
    }

    /// A description of the error in one line, without a full stop.
    public var description: String {
        let text =
            switch reason {
            case .syntax(let text): text
            case .tooLong: "longer than \(ExpectedList.lineLimit) bytes, or more than \(CSVReader.fieldLimit) fields"
            case .tooManyRows: "more than \(ExpectedList.rowLimit) rows"
            case .unknownSystem(let name): "unknown system \"\(name)\""
            case .unnumbered(let system, let type): "records of \(system) with the type \"\(type)\" are not numbered"
            case .number: "seq is not an integer from 0 to \(Int64.max)"
            }
        return "line \(line): \(text)"
    }
}

/// A parser for CSV text that is added byte by byte.
///
/// Fields in quotation marks can contain commas, line feeds and doubled quotation marks. Rows end with a line feed or
/// with a carriage return and a line feed. Empty lines are ignored.
///
/// Source: RFC 4180.
private struct CSVReader {
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
