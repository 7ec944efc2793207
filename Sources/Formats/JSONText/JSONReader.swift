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
            return try parse(source.span.extracting(..<range.upperBound), from: range.lowerBound, policy: policy)
        } catch {
            reset()
            throw error
        }
    }

    private mutating func parse(_ text: Span<UInt8>, from start: Int, policy: JSONReadingPolicy) throws(JSONError)
        -> Int
    {
        // Spans over several arrays of one value would overlap: each array is a variable of its own for a while.
        var (nodes, keys, resolved, members) = ([Node](), [KeyOrder.Entry](), TextBuffer(), [UInt32]())
        exchange(&nodes, &keys, &resolved, &members)
        defer { exchange(&nodes, &keys, &resolved, &members) }
        var reader = JSONReader(text, from: start, policy: policy)
        try reader.begin()
        while true {
            var nodeMemory = nodes.mutableSpan
            var keyMemory = keys.mutableSpan
            if try reader.read(into: &nodeMemory, &keyMemory, &resolved, &members) {
                isDense = !reader.metSpace && policy.duplicateKeys == .reject
                return Int(reader.position)
            }
            if reader.lacksNodes(nodes.count) {
                let more = Self.nodesToAdd(to: nodes.count, read: Int(reader.position) - start, of: text.count - start)
                nodes.append(contentsOf: repeatElement(.null, count: more))
            }
            if reader.lacksKeys(keys.count) {
                var keyMemory = keys.mutableSpan
                try reader.refuseRepeated(&keyMemory, in: nodes.span, resolved.span)
                keys.append(contentsOf: repeatElement(.none, count: keys.count + 64))
            }
        }
    }

    /// How many nodes to make room for when there is no more: as many again, but of a large text not many more than the
    /// rest of it will take if it is like what was read.
    private static func nodesToAdd(to count: Int, read: Int, of length: Int) -> Int {
        let doubling = count + 64
        guard count > 1 << 16, read > 0 else { return doubling }
        return min(doubling, count * (length - read) / read + count / 8)
    }

    private mutating func exchange(
        _ nodes: inout [Node], _ keys: inout [KeyOrder.Entry], _ resolved: inout TextBuffer, _ members: inout [UInt32]
    ) {
        swap(&self.nodes, &nodes)
        swap(&self.keys, &keys)
        swap(&self.resolved, &resolved)
        swap(&self.members, &members)
    }

    /// Clears the way for a new value, and keeps the memory.
    private mutating func clear() {
        source = []
        resolved.removeAll()
        members.removeAll(keepingCapacity: true)
        replacedLength = 0
        isDense = false
        // Large objects are looked at when memory for keys runs out. What is found there must not depend on texts before.
        if keys.count > JSONReader.manyKeys { keys = [] }
    }

    /// Makes the value null, lets go of the text that was read, and keeps the memory for the next one.
    public mutating func reset() {
        clear()
        resolved.append(Self.nullText)
        nodes[0] = .null
    }

    private static let nullText: TextPiece = "null"
}

/// The position in a source, and the array or object that is open there.
///
/// What is around it is kept in the nodes: one that is open has its parent's place in `next`, and an object the place of
/// its first key in `extra`. So the depth of the input costs no stack.
///
/// The reader is a value of a few numbers, and what nearly every token passes through is inlined, so that they stay in
/// registers; what is rare is given the position and returns it. The position has 32 bits, which suffice for the longest
/// text, and tell the compiler that it is neither negative nor near an overflow.
struct JSONReader: ~Escapable {
    typealias Node = JSONDocument.Node

    private let source: Span<UInt8>
    private let policy: JSONReadingPolicy
    private(set) var position: UInt32
    /// How many nodes there are.
    private var nodeCount = 0
    /// How many keys the open objects have.
    private var keyCount = 0
    /// How many arrays and objects are open.
    private var depth = 0
    /// The innermost of them, where there is one.
    private var innermost = 0
    private var isInObject = false
    /// Whether there was white space around a value.
    private(set) var metSpace = false

    @_lifetime(copy source)
    init(_ source: Span<UInt8>, from position: Int, policy: JSONReadingPolicy) {
        self.source = source
        self.policy = policy
        self.position = UInt32(truncatingIfNeeded: position)
    }

    /// Moves on to the first byte of the value.
    @inline(__always)
    mutating func begin() throws(JSONError) {
        skipSpace()
        guard position < source.count else { throw JSONError(.empty, at: Int(position)) }
    }

    /// Reads on until the value and the white space behind it are read, or memory has run out.
    ///
    /// - Parameters:
    ///   - nodes: memory for nodes, with those that were read before.
    ///   - keys: memory for the keys of open objects, likewise.
    /// - Returns: whether the value is complete; if not, there has to be more memory.
    @inline(__always)
    mutating func read(
        into nodes: inout MutableSpan<Node>, _ keys: inout MutableSpan<KeyOrder.Entry>,
        _ resolved: inout TextBuffer, _ members: inout [UInt32]
    ) throws(JSONError) -> Bool {
        // A value is read together with the key that follows it.
        while !lacksNodes(nodes.count), !lacksKeys(keys.count) {
            let isComplete = try readValue(into: &nodes, &resolved)
            if isComplete, skipComma() {
                // The next value is of the same array or object.
            } else if isComplete || isAtEnd {
                try closeFinished(in: &nodes, &keys, resolved.span, &members)
                if depth == 0 { return true }
            }
            if isInObject {
                try readKey(into: &nodes, &keys, &resolved)
            } else {
                nodes[innermost].extra &+= 1
            }
        }
        return false
    }

    /// Whether memory for a number of nodes has no room for more values.
    @inline(__always)
    func lacksNodes(_ count: Int) -> Bool { nodeCount &+ 2 > count }

    /// Whether memory for a number of keys has no room for more.
    @inline(__always)
    func lacksKeys(_ count: Int) -> Bool { keyCount >= count }

    /// Reads a scalar, or opens an array or object and leaves the position at the first value inside.
    /// - Returns: whether a value was completed.
    @inline(__always)
    private mutating func readValue(into nodes: inout MutableSpan<Node>, _ resolved: inout TextBuffer) throws(JSONError)
        -> Bool
    {
        let byte = try nextByte()
        if byte == UInt8(ascii: "\"") {
            try readString(into: &nodes, &resolved)
        } else if byte.isDigit || byte == UInt8(ascii: "-") {
            let end = try source.endOfNumber(at: position)
            append(.number, from: position, to: end, in: &nodes)
            position = end
        } else if byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") {
            try open(isObject: byte == UInt8(ascii: "{"), in: &nodes)
            return false
        } else {
            let (kind, end) = try source.literal(at: Int(position))
            append(kind, from: position, to: UInt32(truncatingIfNeeded: end), in: &nodes)
            position = UInt32(truncatingIfNeeded: end)
        }
        return true
    }

    /// Behind a completed value or at the end of an empty array or object: closes whatever ends here, and leaves the
    /// position behind the comma and the white space that follow.
    @inline(__always)
    private mutating func closeFinished(
        in nodes: inout MutableSpan<Node>, _ keys: inout MutableSpan<KeyOrder.Entry>, _ resolved: Span<UInt8>,
        _ members: inout [UInt32]
    ) throws(JSONError) {
        skipSpace()
        while depth > 0 {
            let byte = try nextByte()
            if byte == UInt8(ascii: ",") { break }
            guard byte == closingByte else { throw JSONError(.unexpectedByte, at: Int(position)) }
            try close(&nodes, &keys, resolved, &members)
            skipSpace()
        }
        if depth > 0 {
            position &+= 1
            skipSpace()
        }
    }

    /// Skips a comma right behind a value, where mostly there is one, and the white space that follows it.
    @inline(__always)
    private mutating func skipComma() -> Bool {
        guard depth > 0, position < source.count, source[Int(position)] == UInt8(ascii: ",") else { return false }
        position &+= 1
        skipSpace()
        return true
    }

    /// Whether the array or object that was just opened ends here.
    private var isAtEnd: Bool {
        @inline(__always) get { position < source.count && source[Int(position)] == closingByte }
    }

    /// Refuses the keys that the innermost object has so far if some repeat. Asked whenever they need more memory, a large
    /// object that will be refused does not have to be held as a whole.
    func refuseRepeated(
        _ keys: inout MutableSpan<KeyOrder.Entry>, in nodes: Span<Node>, _ resolved: Span<UInt8>
    ) throws(JSONError) {
        guard isInObject, policy.duplicateKeys == .reject else { return }
        let firstKey = Int(nodes[innermost].extra)
        guard keyCount - firstKey >= Self.manyKeys else { return }
        let order = KeyOrder(nodes: nodes, source: source, resolved: resolved, policy: policy)
        try order.refuseRepeated(&keys, firstKey..<keyCount)
    }

    /// Objects of fewer keys are small enough to be held.
    fileprivate static let manyKeys = 4096

    private var closingByte: UInt8 {
        @inline(__always) get { isInObject ? UInt8(ascii: "}") : UInt8(ascii: "]") }
    }

    @inline(__always)
    private mutating func open(isObject: Bool, in nodes: inout MutableSpan<Node>) throws(JSONError) {
        guard depth < policy.depthLimit else { throw JSONError(.tooDeep, at: Int(position)) }
        nodes[nodeCount] = Node(
            kind: isObject ? .object : .array, start: position, end: 0,
            next: UInt32(truncatingIfNeeded: innermost),
            extra: isObject ? UInt32(truncatingIfNeeded: keyCount) : 0)
        innermost = nodeCount
        isInObject = isObject
        nodeCount &+= 1
        depth &+= 1
        position &+= 1
        skipSpace()
    }

    @inline(__always)
    private mutating func close(
        _ nodes: inout MutableSpan<Node>, _ keys: inout MutableSpan<KeyOrder.Entry>, _ resolved: Span<UInt8>,
        _ members: inout [UInt32]
    ) throws(JSONError) {
        position &+= 1
        let parent = Int(nodes[innermost].next)
        nodes[innermost].end = position
        nodes[innermost].next = UInt32(truncatingIfNeeded: nodeCount)
        if isInObject {
            let firstKey = Int(nodes[innermost].extra)
            nodes[innermost].extra = UInt32(members.count)
            let order = KeyOrder(nodes: nodes.span, source: source, resolved: resolved, policy: policy)
            try order.append(&keys, firstKey..<keyCount, to: &members)
            keyCount = firstKey
        }
        depth &-= 1
        innermost = parent
        isInObject = depth > 0 && nodes[parent].kind == .object
    }

    @inline(__always)
    private mutating func readKey(
        into nodes: inout MutableSpan<Node>, _ keys: inout MutableSpan<KeyOrder.Entry>, _ resolved: inout TextBuffer
    ) throws(JSONError) {
        guard try nextByte() == UInt8(ascii: "\"") else { throw JSONError(.unexpectedByte, at: Int(position)) }
        let start = position &+ 1
        let end = source.endOfPlainText(from: start)
        let prefix: UInt64
        if end < source.count, source[Int(end)] == UInt8(ascii: "\"") {
            append(.string, from: start, to: end, in: &nodes)
            prefix = source.prefixAsNumber(of: Int(start)..<Int(end))
            position = end &+ 1
        } else {
            prefix = try readLongString(from: start, plainTo: end, into: &nodes, &resolved)
        }
        keys[keyCount] = KeyOrder.Entry(prefix: prefix, key: UInt32(truncatingIfNeeded: nodeCount &- 1))
        keyCount &+= 1
        try skipColon()
    }

    /// Skips a colon and the white space around it: Foundation puts a space on either side.
    @inline(__always)
    private mutating func skipColon() throws(JSONError) {
        if source.holdsWord(at: Int(position)), source.word(at: Int(position)) & 0xFF_FFFF == 0x20_3A20 {
            position &+= 3
            metSpace = true
        } else {
            skipSpace()
            guard try nextByte() == UInt8(ascii: ":") else { throw JSONError(.unexpectedByte, at: Int(position)) }
            position &+= 1
        }
        skipSpace()
    }

    /// Reads the string at the position. One without escapes stays where it is in the source; the text of another one is
    /// built in `resolved`.
    @inline(__always)
    private mutating func readString(
        into nodes: inout MutableSpan<Node>, _ resolved: inout TextBuffer
    ) throws(JSONError) {
        let start = position &+ 1
        let end = source.endOfPlainText(from: start)
        if end < source.count, source[Int(end)] == UInt8(ascii: "\"") {
            append(.string, from: start, to: end, in: &nodes)
            position = end &+ 1
        } else {
            _ = try readLongString(from: start, plainTo: end, into: &nodes, &resolved)
        }
    }

    /// Reads a string that takes more than a quick look.
    /// - Returns: the first eight bytes of its text.
    @inline(__always)
    private mutating func readLongString(
        from start: UInt32, plainTo end: UInt32, into nodes: inout MutableSpan<Node>, _ resolved: inout TextBuffer
    ) throws(JSONError) -> UInt64 {
        var strings = JSONStringReader(source, from: Int(start), policy: policy)
        let node = try strings.read(from: Int(end), next: nodeCount &+ 1, into: &resolved)
        nodes[nodeCount] = node
        nodeCount &+= 1
        position = UInt32(truncatingIfNeeded: strings.position)
        let range = Int(node.start)..<Int(node.end)
        return node.isResolved
            ? resolved.span.extracting(range).prefixAsNumber : source.extracting(range).prefixAsNumber
    }

    /// Appends the node of a scalar.
    @inline(__always)
    private mutating func append(
        _ kind: JSONKind, from start: UInt32, to end: UInt32, in nodes: inout MutableSpan<Node>
    ) {
        // No number is larger than the longest text.
        nodes[nodeCount] = Node(
            kind: kind, start: start, end: end, next: UInt32(truncatingIfNeeded: nodeCount &+ 1))
        nodeCount &+= 1
    }

    @inline(__always)
    private func nextByte() throws(JSONError) -> UInt8 {
        guard position < source.count else { throw JSONError(.unexpectedEnd, at: source.count) }
        return source[Int(position)]
    }

    /// Skips white space: mostly there is none, one space, or a line feed and indentation.
    @inline(__always)
    private mutating func skipSpace() {
        guard position < source.count, source[Int(position)] <= 0x20 else { return }
        position = source.endOfSpace(from: position)
        metSpace = true
    }
}
