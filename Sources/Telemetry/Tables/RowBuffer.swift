import JSONText

/// The rows of some records, table by table, and the texts of their cells.
///
/// One is filled by one job from the lines of records, and is written by another one as it is: nothing is made of a value but
/// its bytes.
public struct RowBuffer: Sendable {
    /// The texts of all cells, one after another.
    public private(set) var text = TextBuffer()
    /// For each table the cells of its rows, row after row.
    public private(set) var cells: [[Cell]]
    private let names: [String]

    /// Makes room for the rows of tables.
    /// - Parameter tables: those that rows are for, in the order that the cells will have.
    public init(_ tables: [Table]) {
        names = tables.map(\.name)
        cells = Array(repeating: [], count: tables.count)
    }

    /// Adds a row, with a cell for each column of the table.
    public mutating func add(_ row: [Cell], to table: Int) {
        cells[table] += row
    }

    /// Lends the cells of a table, to which a row is to be added.
    mutating func withCells(of table: Int, _ body: (inout [Cell]) -> Void) { body(&cells[table]) }

    /// How many bytes of memory the rows take, about.
    public var memorySize: Int {
        cells.reduce(text.count) { $0 + $1.capacity * MemoryLayout<Cell>.stride }
    }

    /// Forgets the rows, and keeps their memory.
    public mutating func removeAll() {
        text.removeAll()
        for table in cells.indices { cells[table].removeAll(keepingCapacity: true) }
    }

    /// The place of a table in ``cells``; nil if there is none of that name.
    public func place(ofTable name: String) -> Int? { names.firstIndex(of: name) }

    /// The bytes of a text.
    public func bytes(_ start: Int, _ count: UInt32) -> ArraySlice<UInt8> { text[start..<start + Int(count)] }
}

// MARK: - Cells

extension RowBuffer {
    /// Keeps a text that is UTF-8.
    public mutating func keep(_ bytes: Span<UInt8>) -> Cell {
        let start = text.count
        text.append(copying: bytes)
        return .text(start: start, count: UInt32(bytes.count))
    }

    /// Keeps a text, or nothing.
    public mutating func keep(_ string: String?) -> Cell {
        guard let string else { return .null }
        return keep(string.utf8.span)
    }

    /// Keeps an instant as RFC 3339 has it.
    public mutating func keep(_ time: Timestamp) -> Cell {
        let start = text.count
        text.append(room: 24) { time.write(to: &$0) }
        return .text(start: start, count: 24)
    }

    /// Keeps a string of a document; NULL for what is none.
    public mutating func keep(string node: JSONNode?, of document: JSONDocument) -> Cell {
        guard let node, document.kind(of: node) == .string else { return .null }
        // A text with escapes may have a lone surrogate, which UTF-8 cannot express.
        guard document.sourceRange(of: node) != nil else { return keep(document.string(of: node)) }
        return keep(document.bytes(of: node))
    }

    /// Keeps two or three strings with points between them, such as `action.click.erase_button`, and each of them, in the same
    /// bytes.
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

    /// Keeps a string as it is, and any other value but null as canonical JSON.
    public mutating func keep(value node: JSONNode?, of document: JSONDocument) -> Cell {
        guard let node else { return .null }
        switch document.kind(of: node) {
        case .null, .removed: return .null
        case .string: return keep(string: node, of: document)
        case .true, .false, .number, .array, .object: return keep(json: node, of: document)
        }
    }

    /// Keeps any value but null as canonical JSON.
    public mutating func keep(json node: JSONNode?, of document: JSONDocument) -> Cell {
        guard let node, document.kind(of: node) != .null else { return .null }
        let start = text.count
        document.write(node, to: &text)
        return .text(start: start, count: UInt32(text.count - start))
    }

    /// Keeps some members of an object as canonical JSON; NULL if there are none, or if it is no object.
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

    /// Keeps a number that is written without fraction and exponent and has 64 bits; NULL for anything else.
    public func keep(integer node: JSONNode?, of document: JSONDocument) -> Cell {
        guard let node, document.kind(of: node) == .number, let number = Int64(decimal: document.bytes(of: node))
        else { return .null }
        return .integer(number)
    }

    /// Keeps a number; NULL for anything else.
    public mutating func keep(real node: JSONNode?, of document: JSONDocument) -> Cell {
        guard let node, document.kind(of: node) == .number else { return .null }
        let start = text.count
        text.append(copying: document.bytes(of: node))
        return .real(start: start, count: UInt32(text.count - start))
    }

    /// Keeps `true` or `false` as 1 or 0; NULL for anything else.
    public func keep(flag node: JSONNode?, of document: JSONDocument) -> Cell {
        switch node.map({ document.kind(of: $0) }) {
        case .true: .integer(1)
        case .false: .integer(0)
        case .null?, .removed, .number, .string, .array, .object, nil: .null
        }
    }
}
