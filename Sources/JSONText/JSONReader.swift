extension JSONDocument {
    /// Reads a text in place of what the document held, and keeps its memory for the new value.
    ///
    /// Source of the grammar: RFC 8259. A byte order mark is no part of it and is refused.
    /// - Throws: ``JSONError`` with the byte offset of the fault; the document is then empty.
    public mutating func read(_ source: [UInt8], policy: JSONReadingPolicy = .strict) throws(JSONError) {
        let end = try readValue(in: source, range: 0..<source.count, policy: policy)
        guard end == source.count else {
            reset(to: [])
            throw JSONError(.trailingBytes, at: end)
        }
    }

    /// Reads one value that begins in a range of a text, white space around it included; what follows is left.
    /// - Returns: the offset of the first byte that was not read.
    /// - Throws: ``JSONError`` with an offset in the whole text; the document is then empty.
    public mutating func readValue(in source: [UInt8], range: Range<Int>, policy: JSONReadingPolicy = .strict)
        throws(JSONError) -> Int
    {
        reset(to: source)
        do throws(JSONError) {
            guard range.upperBound <= Self.maximumLength else {
                throw JSONError(.tooLarge, at: Self.maximumLength)
            }
            var reader = JSONReader(source.span.extracting(..<range.upperBound), policy: policy)
            reader.position = range.lowerBound
            try reader.readValueWithSpace(into: &self)
            return reader.position
        } catch {
            reset(to: [])
            throw error
        }
    }

    /// Makes the value null, or clears the way for the first node of a new one.
    private mutating func reset(to source: [UInt8]) {
        self.source = source
        resolved.removeAll(keepingCapacity: true)
        nodes.removeAll(keepingCapacity: true)
        members.removeAll(keepingCapacity: true)
        if source.isEmpty { append(.null, 0..<0) }
    }
}

/// The position in a source, and the arrays and objects that are open there.
///
/// Nesting is kept in `open`, so the depth of the input costs no stack.
struct JSONReader: ~Copyable, ~Escapable {
    let source: Span<UInt8>
    let policy: JSONReadingPolicy
    var position = 0
    /// The nodes of the arrays and objects that are open, outermost first.
    var open: [UInt32] = []
    /// Memory for sorting the keys of one object.
    var sorting: [KeyOrder.Entry] = []

    @_lifetime(copy source)
    init(_ source: Span<UInt8>, policy: JSONReadingPolicy) {
        self.source = source
        self.policy = policy
    }

    mutating func readValueWithSpace(into document: inout JSONDocument) throws(JSONError) {
        skipSpace()
        guard position < source.count else { throw JSONError(.empty, at: position) }
        repeat {
            if try !readValue(into: &document) { continue }
            try closeFinished(in: &document)
        } while !open.isEmpty
        skipSpace()
    }

    /// Reads a scalar, or opens an array or object and leaves the position at the first value inside.
    /// - Returns: whether a value was completed.
    private mutating func readValue(into document: inout JSONDocument) throws(JSONError) -> Bool {
        let byte = try nextByte()
        switch byte {
        case UInt8(ascii: "\""):
            try readString(into: &document)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            try readNumber(into: &document)
        case UInt8(ascii: "{"):
            return try openObject(in: &document)
        case UInt8(ascii: "["):
            return try openArray(in: &document)
        case UInt8(ascii: "t"):
            try readWord("true", as: .true, into: &document)
        case UInt8(ascii: "f"):
            try readWord("false", as: .false, into: &document)
        case UInt8(ascii: "n"):
            try readWord("null", as: .null, into: &document)
        default:
            throw JSONError(.unexpectedByte, at: position)
        }
        return true
    }

    /// After a completed value: closes whatever ends here, or leaves the position at the next value.
    private mutating func closeFinished(in document: inout JSONDocument) throws(JSONError) {
        while let container = open.last {
            let isObject = document.nodes[Int(container)].kind == .object
            if !isObject { document.nodes[Int(container)].extra += 1 }
            skipSpace()
            let byte = try nextByte()
            if byte == UInt8(ascii: ",") {
                position += 1
                skipSpace()
                if isObject { try readKey(into: &document) }
                return
            }
            guard byte == (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) else {
                throw JSONError(.unexpectedByte, at: position)
            }
            try close(container, isObject: isObject, in: &document)
        }
    }

    private mutating func openObject(in document: inout JSONDocument) throws(JSONError) -> Bool {
        let container = try begin(.object, in: &document)
        guard try nextByte() == UInt8(ascii: "}") else {
            try readKey(into: &document)
            return false
        }
        try close(container, isObject: true, in: &document)
        return true
    }

    private mutating func openArray(in document: inout JSONDocument) throws(JSONError) -> Bool {
        let container = try begin(.array, in: &document)
        guard try nextByte() == UInt8(ascii: "]") else { return false }
        try close(container, isObject: false, in: &document)
        return true
    }

    private mutating func begin(_ kind: JSONKind, in document: inout JSONDocument) throws(JSONError) -> UInt32 {
        guard open.count < policy.depthLimit else { throw JSONError(.tooDeep, at: position) }
        let container = UInt32(document.nodes.count)
        open.append(container)
        document.nodes.append(.init(kind: kind, start: UInt32(position), end: 0, next: 0))
        position += 1
        skipSpace()
        return container
    }

    private mutating func close(_ container: UInt32, isObject: Bool, in document: inout JSONDocument) throws(JSONError)
    {
        position += 1
        open.removeLast()
        let index = Int(container)
        document.nodes[index].end = UInt32(position)
        document.nodes[index].next = UInt32(document.nodes.count)
        if isObject {
            try KeyOrder.append(membersOf: index, to: &document, policy: policy, entries: &sorting)
        }
    }

    private mutating func readKey(into document: inout JSONDocument) throws(JSONError) {
        guard try nextByte() == UInt8(ascii: "\"") else { throw JSONError(.unexpectedByte, at: position) }
        try readString(into: &document)
        skipSpace()
        guard try nextByte() == UInt8(ascii: ":") else { throw JSONError(.unexpectedByte, at: position) }
        position += 1
        skipSpace()
    }

    private mutating func readWord(_ word: StaticString, as kind: JSONKind, into document: inout JSONDocument)
        throws(JSONError)
    {
        let start = position
        for expected in "\(word)".utf8 {
            guard try nextByte() == expected else { throw JSONError(.unexpectedByte, at: position) }
            position += 1
        }
        document.append(kind, start..<position)
    }

    private mutating func readNumber(into document: inout JSONDocument) throws(JSONError) {
        let start = position
        if source[position] == UInt8(ascii: "-") { position += 1 }
        if try nextByte() == UInt8(ascii: "0") {
            position += 1
        } else {
            try readDigits()
        }
        if position < source.count, source[position] == UInt8(ascii: ".") {
            position += 1
            try readDigits()
        }
        if position < source.count, source[position] | 0x20 == UInt8(ascii: "e") {
            position += 1
            let sign = try nextByte()
            if sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { position += 1 }
            try readDigits()
        }
        if position < source.count, source[position].isDigit { throw JSONError(.invalidNumber, at: position) }
        document.append(.number, start..<position)
    }

    private mutating func readDigits() throws(JSONError) {
        guard try nextByte().isDigit else { throw JSONError(.invalidNumber, at: position) }
        repeat { position += 1 } while position < source.count && source[position].isDigit
    }

    func nextByte() throws(JSONError) -> UInt8 {
        guard position < source.count else { throw JSONError(.unexpectedEnd, at: source.count) }
        return source[position]
    }

    private mutating func skipSpace() {
        while position < source.count, source[position].isJSONSpace { position += 1 }
    }
}

extension JSONDocument {
    mutating func append(_ kind: JSONKind, _ range: Range<Int>, isResolved: Bool = false) {
        let next = UInt32(nodes.count + 1)
        nodes.append(
            Node(
                kind: kind, isResolved: isResolved, start: UInt32(range.lowerBound), end: UInt32(range.upperBound),
                next: next))
    }
}

extension UInt8 {
    /// Whether the byte is an ASCII digit.
    @inlinable public var isDigit: Bool { self &- UInt8(ascii: "0") < 10 }

    var isJSONSpace: Bool { self == 0x20 || self == 0x0A || self == 0x0D || self == 0x09 }
}
