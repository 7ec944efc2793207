extension JSONDocument {
    /// Reads a text in place of what the document held, and keeps its memory for the new value.
    ///
    /// Source of the grammar: RFC 8259. A byte order mark is no part of it and is refused.
    /// - Throws: ``JSONError`` with the byte offset of the fault; the document then holds null.
    public mutating func read(_ source: [UInt8], policy: JSONReadingPolicy = .strict) throws(JSONError) {
        let end = try readValue(in: source, range: 0..<source.count, policy: policy)
        guard end == source.count else {
            reset()
            throw JSONError(.trailingBytes, at: end)
        }
    }

    /// Reads one value that begins in a range of a text, white space around it included; what follows is left.
    /// - Returns: the offset of the first byte that was not read.
    /// - Throws: ``JSONError`` with an offset in the whole text; the document then holds null.
    public mutating func readValue(in source: [UInt8], range: Range<Int>, policy: JSONReadingPolicy = .strict)
        throws(JSONError) -> Int
    {
        clear()
        self.source = source
        do throws(JSONError) {
            guard range.upperBound <= Self.maximumLength else {
                throw JSONError(.tooLarge, at: Self.maximumLength)
            }
            var reader = JSONReader(source.span.extracting(..<range.upperBound), policy: policy)
            reader.position = range.lowerBound
            try reader.readValueWithSpace(into: &self)
            return reader.position
        } catch {
            reset()
            throw error
        }
    }

    /// Clears the way for a new value, and keeps the memory.
    private mutating func clear() {
        source = []
        resolved.removeAll(keepingCapacity: true)
        nodes.removeAll(keepingCapacity: true)
        members.removeAll(keepingCapacity: true)
        replacedLength = 0
    }

    /// Makes the value null, lets go of the text that was read, and keeps the memory for the next one.
    public mutating func reset() {
        clear()
        resolved.append(contentsOf: "null".utf8)
        append(.null, 0..<resolved.count, isResolved: true)
    }
}

/// The position in a source, and the arrays and objects that are open there.
///
/// Nesting is kept in `outer`, so the depth of the input costs no stack.
struct JSONReader: ~Copyable, ~Escapable {
    /// An array or object that is open.
    struct Container {
        let node: UInt32
        let isObject: Bool
        /// How many elements or members are complete.
        var count: UInt32 = 0
    }

    let source: Span<UInt8>
    let policy: JSONReadingPolicy
    var position = 0
    /// The array or object that the position is in.
    private var innermost: Container?
    /// The arrays and objects around it, outermost first.
    private var outer: [Container] = []
    /// Memory for sorting the keys of one object.
    private var sorting: [KeyOrder.Entry] = []

    @_lifetime(copy source)
    init(_ source: Span<UInt8>, policy: JSONReadingPolicy) {
        self.source = source
        self.policy = policy
        outer.reserveCapacity(16)
        sorting.reserveCapacity(32)
    }

    mutating func readValueWithSpace(into document: inout JSONDocument) throws(JSONError) {
        skipSpace()
        guard position < source.count else { throw JSONError(.empty, at: position) }
        repeat {
            if try !readValue(into: &document) { continue }
            try closeFinished(in: &document)
        } while innermost != nil
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
            try readWord(.true, "true".utf8.span, into: &document)
        case UInt8(ascii: "f"):
            try readWord(.false, "false".utf8.span, into: &document)
        case UInt8(ascii: "n"):
            try readWord(.null, "null".utf8.span, into: &document)
        default:
            throw JSONError(.unexpectedByte, at: position)
        }
        return true
    }

    /// After a completed value: closes whatever ends here, or leaves the position at the next value.
    private mutating func closeFinished(in document: inout JSONDocument) throws(JSONError) {
        while var container = innermost {
            container.count += 1
            skipSpace()
            let byte = try nextByte()
            if byte == UInt8(ascii: ",") {
                innermost = container
                position += 1
                skipSpace()
                if container.isObject { try readKey(into: &document) }
                return
            }
            guard byte == (container.isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) else {
                throw JSONError(.unexpectedByte, at: position)
            }
            try close(container, in: &document)
        }
    }

    private mutating func openObject(in document: inout JSONDocument) throws(JSONError) -> Bool {
        let container = try begin(.object, in: &document)
        guard try nextByte() == UInt8(ascii: "}") else {
            try readKey(into: &document)
            return false
        }
        try close(container, in: &document)
        return true
    }

    private mutating func openArray(in document: inout JSONDocument) throws(JSONError) -> Bool {
        let container = try begin(.array, in: &document)
        guard try nextByte() == UInt8(ascii: "]") else { return false }
        try close(container, in: &document)
        return true
    }

    private mutating func begin(_ kind: JSONKind, in document: inout JSONDocument) throws(JSONError)
        -> Container
    {
        let depth = innermost == nil ? 0 : outer.count + 1
        guard depth < policy.depthLimit else { throw JSONError(.tooDeep, at: position) }
        if let innermost { outer.append(innermost) }
        let container = Container(node: UInt32(document.nodes.count), isObject: kind == .object)
        innermost = container
        document.nodes.append(.init(kind: kind, start: UInt32(position), end: 0, next: 0))
        position += 1
        skipSpace()
        return container
    }

    private mutating func close(_ container: Container, in document: inout JSONDocument) throws(JSONError) {
        position += 1
        innermost = outer.popLast()
        let index = Int(container.node)
        document.nodes[index].end = UInt32(position)
        document.nodes[index].next = UInt32(document.nodes.count)
        if container.isObject {
            try KeyOrder.append(membersOf: index, to: &document, policy: policy, entries: &sorting)
        } else {
            document.nodes[index].extra = container.count
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

    private mutating func readWord(_ kind: JSONKind, _ word: Span<UInt8>, into document: inout JSONDocument)
        throws(JSONError)
    {
        let start = position
        for index in word.indices {
            guard try nextByte() == word[index] else { throw JSONError(.unexpectedByte, at: position) }
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

    @inline(__always)
    private mutating func skipSpace() {
        if position < source.count, source[position] <= 0x20 { skipSpaces() }
    }

    /// Skips white space, indentation by eight columns at a time.
    private mutating func skipSpaces() {
        var index = position
        while index < source.count, source[index].isJSONSpace {
            index &+= 1
            while source.count &- index >= 8 {
                let others = source.word(at: index) ^ 0x2020_2020_2020_2020
                index &+= others.trailingZeroBitCount >> 3
                if others != 0 { break }
            }
        }
        position = index
    }
}

extension JSONDocument {
    @inline(__always)
    mutating func append(_ kind: JSONKind, _ range: Range<Int>, isResolved: Bool = false, extra: UInt32 = 0) {
        let next = UInt32(nodes.count + 1)
        nodes.append(
            Node(
                kind: kind, isResolved: isResolved, start: UInt32(range.lowerBound),
                end: UInt32(range.upperBound),
                next: next, extra: extra))
    }
}

extension UInt8 {
    /// Whether the byte is an ASCII digit.
    @inlinable public var isDigit: Bool { self &- UInt8(ascii: "0") < 10 }

    var isJSONSpace: Bool { self == 0x20 || self == 0x0A || self == 0x0D || self == 0x09 }
}
