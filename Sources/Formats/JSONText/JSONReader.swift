import Bytes

extension JSONDocument {
    /// Replaces the contents of the document with the value in `source`, reusing the memory.
    ///
    /// The source must match the grammar of RFC 8259, so a byte order mark is rejected.
    ///
    /// - Throws: ``JSONError`` with the byte offset of the fault. The document then contains null.
    public mutating func read(_ source: [UInt8], policy: JSONReadingPolicy = .strict) throws(JSONError) {
        let end = try readValue(in: source, range: 0..<source.count, policy: policy)
        guard end == source.count else {
            reset()
            throw JSONError(.trailingBytes, at: end)
        }
    }

    /// Reads the value at the start of a range of a text, and the white space around the value.
    ///
    /// - Parameters:
    ///   - source: The text.
    ///   - range: The range that begins with the value. Other bytes may follow the value.
    ///   - policy: The deviations from RFC 8259 to accept.
    /// - Returns: The offset of the first byte that was not read.
    /// - Throws: ``JSONError`` with an offset in `source`. The document then contains null.
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
        // Spans of several stored properties would overlap in access, so the arrays are moved to variables.
        var (nodes, keys, resolved, members) = ([Node](), [KeySorter.Entry](), TextBuffer(), [UInt32]())
        swapStorage(&nodes, &keys, &resolved, &members)
        defer { swapStorage(&nodes, &keys, &resolved, &members) }
        var reader = JSONReader(text, from: start, policy: policy)
        let valueLimit = policy.valueLimit.count(forByteCount: text.count - start)
        try reader.skipToValue()
        while true {
            // The limit applies even if the memory of an earlier text suffices for more values.
            reader.nodeCapacity = min(nodes.count, valueLimit)
            var nodeMemory = nodes.mutableSpan
            var keyMemory = keys.mutableSpan
            if try reader.read(into: &nodeMemory, &keyMemory, &resolved, &members) {
                isMinified = !reader.hasWhitespace && policy.duplicateKeys == .reject
                return Int(reader.position)
            }
            if reader.needsMoreNodes {
                guard nodes.count < valueLimit else { throw JSONError(.tooManyValues, at: Int(reader.position)) }
                let more = Self.nodesToAdd(to: nodes.count, read: Int(reader.position) - start, of: text.count - start)
                nodes.append(contentsOf: repeatElement(.null, count: min(more, valueLimit - nodes.count)))
            }
            if reader.needsMoreKeys(than: keys.count) {
                var keyMemory = keys.mutableSpan
                try reader.rejectRepeatedKeys(&keyMemory, in: nodes.span, resolved.span)
                keys.append(contentsOf: repeatElement(.none, count: keys.count + 64))
            }
        }
    }

    /// Returns the number of nodes to add if `count` nodes hold the first `read` of `length` bytes.
    ///
    /// The number of nodes is doubled, unless a large text is estimated to need fewer.
    private static func nodesToAdd(to count: Int, read: Int, of length: Int) -> Int {
        let doubling = count + 64
        guard count > 1 << 16, read > 0 else { return doubling }
        return min(doubling, count * (length - read) / read + count / 8)
    }

    private mutating func swapStorage(
        _ nodes: inout [Node], _ keys: inout [KeySorter.Entry], _ resolved: inout TextBuffer, _ members: inout [UInt32]
    ) {
        swap(&self.nodes, &nodes)
        swap(&self.keys, &keys)
        swap(&self.resolved, &resolved)
        swap(&self.members, &members)
    }

    /// Removes the contents of the document, but keeps the memory.
    private mutating func clear() {
        source = []
        resolved.removeAll()
        members.removeAll(keepingCapacity: true)
        replacedLength = 0
        isMinified = false
        // Large objects are checked for repeated keys whenever the memory for keys is full. Large memory is released,
        // so that the error for a text does not depend on earlier texts.
        if keys.count > JSONReader.largeObjectKeyCount { keys = [] }
    }

    /// Sets the value to null and releases the source, but keeps the other memory for reuse.
    public mutating func reset() {
        clear()
        resolved.append(Self.nullText)
        nodes[0] = .null
    }

    private static let nullText: ConstantText = "null"
}

/// A reader that stores the values of a JSON text as nodes.
///
/// Open arrays and objects are stored in the nodes, so nesting uses no stack. `next` of an open node is the index of
/// its parent, and `extra` of an open object is the index of its first key.
///
/// The state consists of a few numbers, and the code for frequent tokens is inlined, so that the numbers stay in
/// registers. Positions have 32 bits, which suffice for the longest text and prove to the compiler that additions do
/// not overflow.
struct JSONReader: ~Escapable {
    typealias Node = JSONDocument.Node

    private let source: Span<UInt8>
    private let policy: JSONReadingPolicy
    private(set) var position: UInt32
    private(set) var nodeCount = 0
    /// The number of nodes that may be used.
    var nodeCapacity = 0
    /// The number of keys of all open objects.
    private var keyCount = 0
    /// The number of open arrays and objects.
    private var depth = 0
    /// The index of the innermost open array or object, if there is one.
    private var innermostContainer = 0
    private var isInObject = false
    /// Whether white space has been found before or after a value.
    private(set) var hasWhitespace = false

    @_lifetime(copy source)
    init(_ source: Span<UInt8>, from position: Int, policy: JSONReadingPolicy) {
        self.source = source
        self.policy = policy
        self.position = UInt32(truncatingIfNeeded: position)
    }

    mutating func skipToValue() throws(JSONError) {
        skipSpace()
        guard position < source.count else { throw JSONError(.empty, at: Int(position)) }
    }

    /// Reads to the end of the value and returns `true`, or returns `false` if `nodes` or `keys` are used up first.
    mutating func read(
        into nodes: inout MutableSpan<Node>, _ keys: inout MutableSpan<KeySorter.Entry>,
        _ resolved: inout TextBuffer, _ members: inout [UInt32]
    ) throws(JSONError) -> Bool {
        // Each iteration reads a value and the key that follows it.
        while !needsMoreNodes, !needsMoreKeys(than: keys.count) {
            let isComplete = try readValue(into: &nodes, &resolved)
            if isComplete, skipComma() {
                // The next value belongs to the same array or object.
            } else if isComplete || isAtClosingByte {
                try closeCompletedContainers(in: &nodes, &keys, resolved.span, &members)
                if depth == 0 { return true }
            }
            if isInObject {
                try readKey(into: &nodes, &keys, &resolved)
            } else {
                nodes[innermostContainer].extra &+= 1
            }
        }
        return false
    }

    /// Whether another iteration could need more than ``nodeCapacity`` nodes in total.
    var needsMoreNodes: Bool { nodeCount &+ 2 > nodeCapacity }

    /// Returns whether another iteration could need more than `count` keys in total.
    func needsMoreKeys(than count: Int) -> Bool { keyCount >= count }

    /// Reads a scalar and returns `true`, or opens an array or object and returns `false`.
    private mutating func readValue(into nodes: inout MutableSpan<Node>, _ resolved: inout TextBuffer) throws(JSONError)
        -> Bool
    {
        let byte = try nextByte()
        if byte == UInt8(ascii: "\"") {
            try readString(into: &nodes, &resolved)
        } else if byte.isDigit || byte == UInt8(ascii: "-") {
            let end = UInt32(truncatingIfNeeded: try source.endOfNumber(at: Int(position)))
            append(.number, from: position, to: end, in: &nodes)
            position = end
        } else if byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") {
            try beginContainer(isObject: byte == UInt8(ascii: "{"), in: &nodes)
            return false
        } else {
            let (kind, end) = try source.literal(at: Int(position))
            append(kind, from: position, to: UInt32(truncatingIfNeeded: end), in: &nodes)
            position = UInt32(truncatingIfNeeded: end)
        }
        return true
    }

    /// Closes the arrays and objects that end at the position, and skips the comma and the white space after them.
    private mutating func closeCompletedContainers(
        in nodes: inout MutableSpan<Node>, _ keys: inout MutableSpan<KeySorter.Entry>, _ resolved: Span<UInt8>,
        _ members: inout [UInt32]
    ) throws(JSONError) {
        skipSpace()
        while depth > 0 {
            let byte = try nextByte()
            if byte == UInt8(ascii: ",") { break }
            guard byte == closingByte else { throw JSONError(.unexpectedByte, at: Int(position)) }
            try endContainer(&nodes, &keys, resolved, &members)
            skipSpace()
        }
        if depth > 0 {
            position &+= 1
            skipSpace()
        }
    }

    /// Skips a comma and the white space after it, and returns whether there was a comma.
    private mutating func skipComma() -> Bool {
        guard depth > 0, position < source.count, source[Int(position)] == UInt8(ascii: ",") else { return false }
        position &+= 1
        skipSpace()
        return true
    }

    /// Whether the array or object that was just opened ends at the position.
    private var isAtClosingByte: Bool { position < source.count && source[Int(position)] == closingByte }

    /// Throws an error if the innermost object is large and already has a repeated key that the policy rejects.
    func rejectRepeatedKeys(
        _ keys: inout MutableSpan<KeySorter.Entry>, in nodes: Span<Node>, _ resolved: Span<UInt8>
    ) throws(JSONError) {
        guard isInObject, policy.duplicateKeys == .reject else { return }
        let firstKey = Int(nodes[innermostContainer].extra)
        guard keyCount - firstKey >= Self.largeObjectKeyCount else { return }
        let sorter = KeySorter(nodes: nodes, source: source, resolved: resolved, policy: policy)
        try sorter.rejectRepeatedKeys(&keys, firstKey..<keyCount)
    }

    /// The minimum number of keys of an object that is checked for repeated keys before it is complete.
    fileprivate static let largeObjectKeyCount = 4096

    private var closingByte: UInt8 { isInObject ? UInt8(ascii: "}") : UInt8(ascii: "]") }

    private mutating func beginContainer(isObject: Bool, in nodes: inout MutableSpan<Node>) throws(JSONError) {
        guard depth < policy.depthLimit else { throw JSONError(.tooDeep, at: Int(position)) }
        nodes[nodeCount] = Node(
            kind: isObject ? .object : .array, start: position, end: 0,
            next: UInt32(truncatingIfNeeded: innermostContainer),
            extra: isObject ? UInt32(truncatingIfNeeded: keyCount) : 0)
        innermostContainer = nodeCount
        isInObject = isObject
        nodeCount &+= 1
        depth &+= 1
        position &+= 1
        skipSpace()
    }

    private mutating func endContainer(
        _ nodes: inout MutableSpan<Node>, _ keys: inout MutableSpan<KeySorter.Entry>, _ resolved: Span<UInt8>,
        _ members: inout [UInt32]
    ) throws(JSONError) {
        position &+= 1
        let parent = Int(nodes[innermostContainer].next)
        nodes[innermostContainer].end = position
        nodes[innermostContainer].next = UInt32(truncatingIfNeeded: nodeCount)
        if isInObject {
            let firstKey = Int(nodes[innermostContainer].extra)
            nodes[innermostContainer].extra = UInt32(members.count)
            let sorter = KeySorter(nodes: nodes.span, source: source, resolved: resolved, policy: policy)
            try sorter.append(&keys, firstKey..<keyCount, to: &members)
            keyCount = firstKey
        }
        depth &-= 1
        innermostContainer = parent
        isInObject = depth > 0 && nodes[parent].kind == .object
    }

    private mutating func readKey(
        into nodes: inout MutableSpan<Node>, _ keys: inout MutableSpan<KeySorter.Entry>, _ resolved: inout TextBuffer
    ) throws(JSONError) {
        guard try nextByte() == UInt8(ascii: "\"") else { throw JSONError(.unexpectedByte, at: Int(position)) }
        try readString(into: &nodes, &resolved)
        let key = nodes[nodeCount &- 1]
        let range = Int(key.start)..<Int(key.end)
        let prefix =
            key.isResolved ? resolved.span.prefixAsNumber(of: range) : source.prefixAsNumber(of: range)
        keys[keyCount] = KeySorter.Entry(prefix: prefix, key: UInt32(truncatingIfNeeded: nodeCount &- 1))
        keyCount &+= 1
        try skipColon()
    }

    /// Skips a colon and the white space around it.
    private mutating func skipColon() throws(JSONError) {
        skipSpace()
        guard try nextByte() == UInt8(ascii: ":") else { throw JSONError(.unexpectedByte, at: Int(position)) }
        position &+= 1
        skipSpace()
    }

    /// Reads the string at the position, and appends it to `resolved` if it contains escapes.
    private mutating func readString(
        into nodes: inout MutableSpan<Node>, _ resolved: inout TextBuffer
    ) throws(JSONError) {
        let start = position &+ 1
        let end = source.endOfPlainText(from: start)
        if end < source.count, source[Int(end)] == UInt8(ascii: "\"") {
            append(.string, from: start, to: end, in: &nodes)
            position = end &+ 1
        } else {
            var strings = JSONStringReader(source, from: Int(start), policy: policy)
            nodes[nodeCount] = try strings.read(from: Int(end), next: nodeCount &+ 1, into: &resolved)
            nodeCount &+= 1
            position = UInt32(truncatingIfNeeded: strings.position)
        }
    }

    /// Appends the node of a scalar.
    private mutating func append(
        _ kind: JSONKind, from start: UInt32, to end: UInt32, in nodes: inout MutableSpan<Node>
    ) {
        // The length of a text limits all these numbers to 32 bits.
        nodes[nodeCount] = Node(
            kind: kind, start: start, end: end, next: UInt32(truncatingIfNeeded: nodeCount &+ 1))
        nodeCount &+= 1
    }

    private func nextByte() throws(JSONError) -> UInt8 {
        guard position < source.count else { throw JSONError(.unexpectedEnd, at: source.count) }
        return source[Int(position)]
    }

    /// Skips white space, which is usually absent or short.
    private mutating func skipSpace() {
        guard position < source.count, source[Int(position)] <= 0x20 else { return }
        position = source.endOfWhitespace(from: position)
        hasWhitespace = true
    }
}

/// The deviations from RFC 8259 that a reader accepts.
public struct JSONReadingPolicy: Sendable {
    /// The treatment of a key that occurs more than once in an object.
    public enum DuplicateKeys: Sendable {
        /// The text is rejected.
        case reject
        /// The last value is kept, as in most parsers.
        case lastWins
    }

    /// The treatment of an escaped surrogate without the other half of its pair.
    public enum UnpairedSurrogates: Sendable {
        /// The text is rejected.
        case reject
        /// The surrogate is kept in WTF-8, and is escaped again when it is written.
        case keep
    }

    /// The limit on the number of values and keys of a text.
    ///
    /// Without a limit, a text of small values would need ten times its size in memory.
    public enum ValueLimit: Sendable {
        /// 1,048,576 values and keys, and one more for each 8 bytes of the text.
        case proportional
        /// 16,777,216 values and keys.
        ///
        /// This limit is for records. A record can be made of a text of 32 MiB with white space between its values.
        case fixed

        /// Returns the maximum number of values and keys of a text with `count` bytes.
        func count(forByteCount count: Int) -> Int {
            switch self {
            case .proportional: 1 << 20 + count / 8
            case .fixed: 1 << 24
            }
        }
    }

    /// The treatment of repeated keys.
    public var duplicateKeys: DuplicateKeys
    /// The treatment of lone surrogates.
    public var unpairedSurrogates: UnpairedSurrogates
    /// The maximum number of nested arrays and objects.
    public var depthLimit: Int
    /// The limit on the number of values and keys.
    public var valueLimit: ValueLimit

    /// The policy that accepts no deviations from RFC 8259 and at most 512 nested arrays and objects.
    public static let strict = JSONReadingPolicy()

    /// Creates a policy, which is strict by default.
    public init(
        duplicateKeys: DuplicateKeys = .reject,
        unpairedSurrogates: UnpairedSurrogates = .reject,
        depthLimit: Int = 512,
        valueLimit: ValueLimit = .proportional
    ) {
        self.duplicateKeys = duplicateKeys
        self.unpairedSurrogates = unpairedSurrogates
        self.depthLimit = depthLimit
        self.valueLimit = valueLimit
    }

}

/// An error that states why text is not valid JSON.
public struct JSONError: Error, Equatable, Sendable {
    /// The kind of fault.
    public let code: Code
    /// The byte offset in the source at which reading stopped.
    public let offset: Int

    /// The kinds of fault, with their descriptions as raw values.
    public enum Code: String, Sendable {
        /// The text is empty or contains only white space.
        case empty = "no JSON value"
        /// The text ends inside a value.
        case unexpectedEnd = "JSON ends inside a value"
        /// A byte that cannot begin a value or a separator at its position.
        case unexpectedByte = "unexpected byte"
        /// A number that RFC 8259 does not allow, such as `01` or `1.`.
        case invalidNumber = "malformed number"
        /// A backslash that is not followed by a valid escape.
        case invalidEscape = "malformed escape"
        /// An unescaped control character in a string.
        case controlCharacter = "unescaped control character"
        /// Bytes that are not well-formed UTF-8.
        case invalidUTF8 = "malformed UTF-8"
        /// An escaped surrogate without the other half of its pair.
        case unpairedSurrogate = "unpaired surrogate"
        /// A key that occurs more than once in an object.
        ///
        /// The error has the offset of the repeated key.
        case duplicateKey = "duplicate key"
        /// Arrays and objects are nested deeper than allowed.
        case tooDeep = "nested too deep"
        /// Bytes other than white space follow the value.
        case trailingBytes = "bytes after the JSON value"
        /// A text has more values and keys than its length allows.
        ///
        /// The limit is described by ``JSONReadingPolicy/ValueLimit``.
        case tooManyValues = "too many values"
        /// A text longer than ``JSONDocument/maximumLength``.
        case tooLarge = "JSON text too large"

        /// The description of the fault.
        public var text: String { rawValue }
    }

    /// Creates an error.
    public init(_ code: Code, at offset: Int) {
        self.code = code
        self.offset = offset
    }
}

extension JSONError: CustomStringConvertible {
    /// The description of the fault, followed by its offset.
    public var description: String { "\(code.text) at byte \(offset)" }
}
