import JSONText

/// A buffer of the rows of some records, by table, and the strings of their cells.
///
/// One job fills the buffer from the lines of records, and another one writes it. Values are stored as bytes, without
/// conversion.
public struct RowBuffer: Sendable {
    /// The strings of all cells, one after another.
    public private(set) var text = TextBuffer()
    /// The cells of each table, row after row.
    public private(set) var cells: [[Cell]]
    private let names: [String]

    /// Creates an empty buffer for the given tables, whose order is that of ``cells``.
    public init(_ tables: [Table]) {
        names = tables.map(\.name)
        cells = Array(repeating: [], count: tables.count)
    }

    /// Adds a row, with a cell for each column of the table.
    public mutating func add(_ row: [Cell], to table: Int) { cells[table] += row }

    /// Calls `body` with the cells of a table, to which it appends a row.
    mutating func withCells(of table: Int, _ body: (inout [Cell]) -> Void) { body(&cells[table]) }

    /// The approximate memory size of the rows in bytes.
    public var memorySize: Int { cells.reduce(text.count) { $0 + $1.capacity * MemoryLayout<Cell>.stride } }

    /// Removes all rows and keeps their memory.
    public mutating func removeAll() {
        text.removeAll()
        for table in cells.indices { cells[table].removeAll(keepingCapacity: true) }
    }

    /// Returns the index of a table in ``cells``, or `nil` if there is no table with this name.
    public func index(ofTable name: String) -> Int? { names.firstIndex(of: name) }

    /// Returns the bytes of a string.
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

    /// Stores a string, or returns a null cell for `nil`.
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

    /// Stores a string of a document, or returns a null cell for any other value.
    public mutating func keep(string node: JSONNode?, of document: JSONDocument) -> Cell {
        guard let node, document.kind(of: node) == .string else { return .null }
        // A string with escapes can contain an unpaired surrogate, which UTF-8 cannot express.
        guard document.sourceRange(of: node) != nil else { return keep(document.string(of: node)) }
        return keep(document.bytes(of: node))
    }

    /// Stores strings joined by dots, such as `action.click.erase_button`, whose cells share the same bytes.
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

    /// Stores a string as it is and any other value as canonical JSON, or returns a null cell for `null`.
    public mutating func keep(value node: JSONNode?, of document: JSONDocument) -> Cell {
        guard let node else { return .null }
        switch document.kind(of: node) {
        case .null, .removed: return .null
        case .string: return keep(string: node, of: document)
        case .true, .false, .number, .array, .object: return keep(json: node, of: document)
        }
    }

    /// Stores a value as canonical JSON, or returns a null cell for `null`.
    public mutating func keep(json node: JSONNode?, of document: JSONDocument) -> Cell {
        guard let node, document.kind(of: node) != .null else { return .null }
        let start = text.count
        document.write(node, to: &text)
        return .text(start: start, count: UInt32(text.count - start))
    }

    /// Stores some members of an object as canonical JSON, or returns a null cell if there are none.
    public mutating func keep(
        membersOf object: JSONNode, of document: JSONDocument, where isWanted: (JSONMember) -> Bool
    ) -> Cell {
        let start = text.count
        for place in 0..<document.memberCount(of: object) {
            let member = document.member(at: place, of: object)
            guard isWanted(member) else { continue }
            text.append(text.count == start ? UInt8(ascii: "{") : UInt8(ascii: ","))
            document.write(member.key, to: &text)
            text.append(UInt8(ascii: ":"))
            document.write(member.value, to: &text)
        }
        guard text.count > start else { return .null }
        text.append(UInt8(ascii: "}"))
        return .text(start: start, count: UInt32(text.count - start))
    }

    /// Returns an integer cell for a 64-bit number without fraction and exponent, and a null cell for other values.
    public func keep(integer node: JSONNode?, of document: JSONDocument) -> Cell {
        guard let node, document.kind(of: node) == .number, let number = Int64(decimal: document.bytes(of: node))
        else { return .null }
        return .integer(number)
    }

    /// Stores a number, or returns a null cell for any other value.
    public mutating func keep(real node: JSONNode?, of document: JSONDocument) -> Cell {
        guard let node, document.kind(of: node) == .number else { return .null }
        let start = text.count
        text.append(copying: document.bytes(of: node))
        return .real(start: start, count: UInt32(text.count - start))
    }

    /// Returns 1 for `true` and 0 for `false`, and a null cell for any other value.
    public func keep(flag node: JSONNode?, of document: JSONDocument) -> Cell {
        switch node.map({ document.kind(of: $0) }) {
        case .true: .integer(1)
        case .false: .integer(0)
        case .null?, .removed, .number, .string, .array, .object, nil: .null
        }
    }
}
