import JSONText

/// A buffer of table rows and the strings of their cells.
///
/// One job fills the buffer, and another job writes it to the export. Text and real numbers remain unconverted bytes.
public struct RowBuffer: Sendable {
    /// The strings of all cells, one after another.
    public private(set) var text = TextBuffer()
    /// The cells of each table, row by row.
    public private(set) var cells: [[Cell]]
    private let tables: [Table]
    /// Whether a table has a column of JSON.
    public let storesJSON: Bool

    /// Creates an empty buffer.
    ///
    /// The elements of ``cells`` are in the same order as `tables`.
    public init(_ tables: [Table]) {
        self.tables = tables
        storesJSON = tables.contains { $0.columns.contains { $0.kind == .json } }
        cells = Array(repeating: [], count: tables.count)
    }

    /// Adds the cells of `row` to `table`, except for columns that the buffer does not contain.
    ///
    /// If the buffer does not contain the table, nothing is added.
    public mutating func add<Row>(_ row: Row, to table: RowTable<Row>, at place: RowPlace) {
        guard let index = index(of: table.table) else { return }
        // The cells are moved out of the buffer, because the columns can store strings in the buffer.
        var added: [Cell] = []
        swap(&added, &cells[index])
        let indices = tables[index].sourceIndices
        let sources = table.sources.span
        added.append(addingCapacity: indices.count) { output in
            for position in indices.indices {
                switch sources[indices[position]] {
                case .record: output.append(place.record)
                case .number: output.append(.integer(Int64(place.number)))
                case .cell(let cell): output.append(cell(row))
                case .stored(let cell): output.append(cell(row, &self))
                }
            }
        }
        swap(&added, &cells[index])
    }

    /// The approximate size of the rows in memory, in bytes.
    public var memorySize: Int { cells.reduce(text.count) { $0 + $1.capacity * MemoryLayout<Cell>.stride } }

    /// The number of rows of each table.
    public var rowCounts: [Int] { zip(cells, tables).map { $0.count / $1.columns.count } }

    /// Removes all rows, but keeps their memory for reuse.
    public mutating func removeAll() {
        text.removeAll()
        for table in cells.indices { cells[table].removeAll(keepingCapacity: true) }
    }

    /// Removes the rows of `table`, but keeps their memory for reuse.
    public mutating func removeRows(of table: Table) {
        guard let index = index(of: table) else { return }
        cells[index].removeAll(keepingCapacity: true)
    }

    /// Returns the index of `table` in ``cells``, or `nil` if the buffer does not contain the table.
    public func index(of table: Table) -> Int? { tables.firstIndex { $0.name == table.name } }

    /// Returns the bytes of a cell: `count` bytes at offset `start` in ``text``.
    public func bytes(_ start: Int, _ count: UInt32) -> ArraySlice<UInt8> { text[start..<start + Int(count)] }
}

// MARK: - Cells

extension RowBuffer {
    /// Stores a string of UTF-8 bytes.
    public mutating func keep(_ bytes: Span<UInt8>) -> Cell {
        let start = text.count
        text.append(copying: bytes)
        return .text(start: start, count: UInt32(bytes.count))
    }

    /// Stores a string.
    ///
    /// Returns a null cell for `nil`.
    public mutating func keep(_ string: String?) -> Cell {
        guard let string else { return .null }
        return keep(string.utf8.span)
    }

    /// Stores an instant in the format of RFC 3339.
    public mutating func keep(_ time: Timestamp) -> Cell {
        let start = text.count
        text.append(atMost: 24) { time.write(to: &$0) }
        return .text(start: start, count: 24)
    }

    /// Stores a value as canonical JSON.
    mutating func keep(json value: some CanonicalValue) -> Cell {
        var bytes: [UInt8] = []
        value.appendJSON(to: &bytes)
        return keep(bytes.span)
    }

    /// Stores the string at `node`.
    ///
    /// Returns a null cell if `node` is `nil` or is not a string.
    public mutating func keep(string node: JSONNode?, of document: JSONDocument) -> Cell {
        guard let node, document.kind(of: node) == .string else { return .null }
        // A string with escapes can contain an unpaired surrogate, which UTF-8 cannot express.
        guard document.sourceRange(of: node) != nil else { return keep(document.string(of: node)) }
        return keep(document.bytes(of: node))
    }

    /// Stores strings joined by dots, such as `action.click.erase_button`.
    ///
    /// The returned cells share the bytes of the joined string.
    public mutating func keep(
        joined one: JSONNode, _ two: JSONNode, _ three: JSONNode?, of document: JSONDocument
    ) -> (whole: Cell, first: Cell, second: Cell, third: Cell) {
        let start = text.count
        let first = keep(string: one, of: document)
        text.append(UInt8(ascii: "."))
        let second = keep(string: two, of: document)
        if three != nil { text.append(UInt8(ascii: ".")) }
        let third = keep(string: three, of: document)
        return (.text(start: start, count: UInt32(text.count - start)), first, second, third)
    }

    /// Stores the path that consists of `folder` and `rest`, joined by a slash.
    public mutating func keep(path folder: String, _ rest: Span<UInt8>) -> Cell {
        let start = text.count
        text.append(copying: folder.utf8.span)
        text.append(UInt8(ascii: "/"))
        text.append(copying: rest)
        return .text(start: start, count: UInt32(text.count - start))
    }

    /// Stores a string unchanged, and any other value as canonical JSON.
    ///
    /// Returns a null cell if `node` is `nil` or is `null`.
    public mutating func keep(value node: JSONNode?, of document: JSONDocument) -> Cell {
        guard let node else { return .null }
        switch document.kind(of: node) {
        case .null, .removed: return .null
        case .string: return keep(string: node, of: document)
        case .true, .false, .number, .array, .object: return keep(json: node, of: document)
        }
    }

    /// Stores a value as canonical JSON.
    ///
    /// Returns a null cell if `node` is `nil` or is `null`, or if no table has a column of JSON.
    public mutating func keep(json node: JSONNode?, of document: JSONDocument) -> Cell {
        guard storesJSON, let node, document.kind(of: node) != .null else { return .null }
        let start = text.count
        document.write(node, to: &text)
        return .text(start: start, count: UInt32(text.count - start))
    }

    /// Stores the members of `object` for which `isWanted` returns `true`, and the member `added`, as canonical JSON.
    ///
    /// `object` must not contain the key of `added`, whose value is canonical JSON. Returns a null cell if there are no
    /// members, or if no table has a column of JSON.
    public mutating func keep(
        membersOf object: JSONNode, of document: JSONDocument, adding added: (key: JSONKey, json: [UInt8])? = nil,
        where isWanted: (JSONMember) -> Bool = { _ in true }
    ) -> Cell {
        guard storesJSON else { return .null }
        let start = text.count
        document.write(membersOf: object, adding: added, to: &text, where: isWanted)
        return text.count > start ? .text(start: start, count: UInt32(text.count - start)) : .null
    }

    /// Stores values as a canonical JSON array.
    ///
    /// Returns a null cell if no table has a column of JSON.
    public mutating func keep(arrayOf nodes: [JSONNode], of document: JSONDocument) -> Cell {
        guard storesJSON else { return .null }
        let start = text.count
        text.append(UInt8(ascii: "["))
        for (index, node) in nodes.enumerated() {
            if index > 0 { text.append(UInt8(ascii: ",")) }
            document.write(node, to: &text)
        }
        text.append(UInt8(ascii: "]"))
        return .text(start: start, count: UInt32(text.count - start))
    }

    /// Returns a cell for a 64-bit integer without a fraction or exponent, or a null cell for any other value.
    public func keep(integer node: JSONNode?, of document: JSONDocument) -> Cell {
        guard let node, document.kind(of: node) == .number, let number = Int64(decimal: document.bytes(of: node))
        else { return .null }
        return .integer(number)
    }

    /// Stores a number.
    ///
    /// Returns a null cell for any other value, and for a number that is too large for a 64-bit floating-point number.
    public mutating func keep(real node: JSONNode?, of document: JSONDocument) -> Cell {
        guard let node, document.kind(of: node) == .number else { return .null }
        let digits = document.bytes(of: node)
        guard digits.isFiniteNumber else { return .null }
        return keep(number: digits)
    }

    /// Stores a number, or a string that contains a number in the notation of JSON, as a number.
    ///
    /// Returns a null cell for any other value, and for a number that is too large for a 64-bit floating-point number.
    public mutating func keep(decimal node: JSONNode?, of document: JSONDocument) -> Cell {
        guard let node else { return .null }
        guard document.kind(of: node) == .string else { return keep(real: node, of: document) }
        let digits = document.bytes(of: node)
        guard DecimalParts(digits) != nil, digits.isFiniteNumber else { return .null }
        return keep(number: digits)
    }

    /// Stores a finite number in the notation of JSON.
    public mutating func keep(number: Span<UInt8>) -> Cell {
        let start = text.count
        text.append(copying: number)
        return .real(start: start, count: UInt32(text.count - start))
    }

    /// Stores a number, or returns a null cell if it is infinite or not a number.
    public mutating func keep(_ real: Double) -> Cell {
        guard real.isFinite else { return .null }
        let start = text.count
        text.append(jsonNumber: real)
        return .real(start: start, count: UInt32(text.count - start))
    }

    /// Returns 1 for `true`, 0 for `false`, or a null cell for any other value.
    public func keep(flag node: JSONNode?, of document: JSONDocument) -> Cell {
        switch node.map({ document.kind(of: $0) }) {
        case .true: .integer(1)
        case .false: .integer(0)
        case .null?, .removed, .number, .string, .array, .object, nil: .null
        }
    }
}

extension RowBuffer {
    /// Stores a value in the form of a column of the kind that the form has.
    ///
    /// Returns a null cell if the type of the value is not that of the form.
    public mutating func keep(_ value: JSONNode, as form: PayloadForm, of document: JSONDocument) -> Cell {
        switch form {
        case .version, .integer: keep(integer: value, of: document)
        case .boolean: keep(flag: value, of: document)
        case .number: keep(real: value, of: document)
        case .string: keep(string: value, of: document)
        case .orNull(let form): keep(value, as: form, of: document)
        case .list: document.kind(of: value) == .array ? keep(json: value, of: document) : .null
        case .object, .open, .map: document.kind(of: value) == .object ? keep(json: value, of: document) : .null
        case .any, .structure: keep(json: value, of: document)
        }
    }
}

extension Span<UInt8> {
    /// Whether the JSON number in the bytes is finite as a 64-bit floating-point number.
    fileprivate var isFiniteNumber: Bool {
        // Only a long number, or one with an exponent, can be too large.
        let canBeInfinite =
            count > 300 || contains(UInt8(ascii: "e")) || contains(UInt8(ascii: "E"))
        guard canBeInfinite else { return true }
        return Double(String(readingUTF8: self))?.isFinite ?? false
    }
}

/// A value in a table row.
///
/// Strings are stored in a ``RowBuffer``, so that a cell is small and contains no references.
public enum Cell: Sendable, Equatable {
    /// No value.
    case null
    /// An integer.
    case integer(Int64)
    /// A number in its original notation: `count` bytes at offset `start` in ``RowBuffer/text``.
    case real(start: Int, count: UInt32)
    /// A string or JSON: `count` bytes of UTF-8 at offset `start` in ``RowBuffer/text``.
    case text(start: Int, count: UInt32)

    /// A cell with the day of this cell, which contains a time: the first ten bytes, such as `2018-05-24`.
    public var dayOfTime: Cell {
        switch self {
        case .text(let start, _): .text(start: start, count: 10)
        case .null, .integer, .real: .null
        }
    }

    /// Returns an integer cell that contains 1 for `true` and 0 for `false`.
    public static func flag(_ value: Bool) -> Cell { .integer(value ? 1 : 0) }
}
