/// A parsed JSON text that preserves the text of numbers, the scalars of strings and the order of arrays.
///
/// The document is a flat list of nodes that refer to the source, so reading does not allocate memory for each value,
/// and a document can be reused for other texts. A ``JSONNode`` is a position in that list. It is valid only for the
/// document that returned it, and only until the next call of ``read(_:policy:)``.
///
/// The members of an object are in canonical order, which is the order of the UTF-8 bytes of their keys.
///
/// ```swift
/// let document = try JSONDocument(Array(#"{"b":1.0,"a":[true]}"#.utf8))
/// let number = document.value(of: "b", in: document.root).map { document.string(of: $0) }  // 1.0
/// let canonical = document.canonicalBytes(of: document.root)  // {"a":[true],"b":1.0}
/// ```
public struct JSONDocument: Sendable {
    /// The maximum length of a text, in bytes.
    public static let maximumLength = 1 << 30

    var source: [UInt8] = []
    /// The text of strings with resolved escapes, and of values that replaced other values.
    var resolved = TextBuffer(Array("null".utf8))
    /// The values in the order of the text, followed by unused nodes.
    var nodes = [Node.null]
    /// For each object, its number of members followed by the node indices of its keys in canonical order.
    var members: [UInt32] = []
    /// The keys of the objects whose ends have not been read yet.
    var keys: [KeySorter.Entry] = []
    /// The maximum number of bytes that replaced values add to the canonical form.
    var replacedLength = 0
    /// Whether the source is known to have neither white space nor repeated keys, and no value has been changed.
    var isMinified = false

    /// Creates a document that contains null.
    public init() {}

    /// Creates a document from the JSON text `source`.
    ///
    /// - Throws: ``JSONError`` with the byte offset of the fault.
    public init(_ source: [UInt8], policy: JSONReadingPolicy = .strict) throws(JSONError) {
        try read(source, policy: policy)
    }

    /// A value whose bytes are stored in `source` or `resolved`.
    struct Node: Sendable {
        var kind: JSONKind
        /// Whether `start` and `end` are offsets in `resolved` instead of `source`.
        var isResolved = false
        var start: UInt32
        var end: UInt32
        /// The index of the first node after this value and its contents.
        var next: UInt32
        /// The number of elements of an array, the index of an object in `members`, or the source offset of a string
        /// that is stored in `resolved`.
        var extra: UInt32 = 0

        var isContainer: Bool { kind == .array || kind == .object }

        /// Returns whether this node, which is at `index`, is an array that contains only scalars and empty containers.
        func isFlatArray(at index: Int) -> Bool { kind == .array && Int(next) == index + 1 + Int(extra) }

        /// The root of a document that contains null.
        ///
        /// Its text is at the start of `resolved`.
        static let null = Node(kind: .null, isResolved: true, start: 0, end: 4, next: 1)
    }
}

/// The kind of a value.
public enum JSONKind: UInt8, Sendable {
    /// A removed value, which is skipped by traversals.
    case removed
    case null
    case `true`
    case `false`
    /// A number, stored as text.
    case number
    case string
    case array
    case object
}

/// The position of a value in a ``JSONDocument``.
public struct JSONNode: Hashable, Sendable {
    let index: UInt32

    init(_ index: UInt32) {
        self.index = index
    }
}

/// The key and the value of a member of an object.
public struct JSONMember: Sendable {
    /// The key, which is a string.
    public let key: JSONNode

    /// The value.
    public var value: JSONNode { JSONNode(key.index &+ 1) }
}

extension JSONDocument {
    /// The outermost value.
    public var root: JSONNode { JSONNode(0) }

    /// Returns the kind of a value.
    public func kind(of node: JSONNode) -> JSONKind {
        nodes[Int(node.index)].kind
    }

    /// Returns the UTF-8 of a string with escapes resolved, or the text of a number.
    ///
    /// For a literal, returns its text. For an array or object, returns its text in the source, without later changes.
    @_lifetime(borrow self)
    public func bytes(of node: JSONNode) -> Span<UInt8> {
        let entry = nodes[Int(node.index)]
        let range = Int(entry.start)..<Int(entry.end)
        return entry.isResolved ? resolved.span.extracting(range) : source.span.extracting(range)
    }

    /// Returns the range of a value in the source, in bytes, excluding the quotation marks of a string.
    ///
    /// Returns `nil` if the value was replaced or is a string with escapes.
    public func sourceRange(of node: JSONNode) -> Range<Int>? {
        let entry = nodes[Int(node.index)]
        return entry.isResolved ? nil : Int(entry.start)..<Int(entry.end)
    }

    /// Returns a string or the text of a number as a `String`, with each byte of a lone surrogate replaced by U+FFFD.
    public func string(of node: JSONNode) -> String {
        String(readingUTF8: bytes(of: node))
    }

    /// Returns the number of elements of an array or members of an object, or 0 for other values.
    public func count(of node: JSONNode) -> Int {
        let entry = nodes[Int(node.index)]
        return switch entry.kind {
        case .array: Int(entry.extra)
        case .object: Int(members[Int(entry.extra)])
        default: 0
        }
    }

    /// Returns the number of members of an object, or 0 for other values.
    public func memberCount(of node: JSONNode) -> Int {
        kind(of: node) == .object ? count(of: node) : 0
    }

    /// Returns the member of an object at a position in canonical order.
    public func member(at position: Int, of object: JSONNode) -> JSONMember {
        JSONMember(key: JSONNode(members[Int(nodes[Int(object.index)].extra) + 1 + position]))
    }

    /// Returns the members of an object in canonical order, or an empty list for other values.
    public func members(of object: JSONNode) -> LazyMapSequence<ArraySlice<UInt32>, JSONMember> {
        let start = kind(of: object) == .object ? Int(nodes[Int(object.index)].extra) + 1 : 0
        return members[start..<start + memberCount(of: object)].lazy.map { JSONMember(key: JSONNode($0)) }
    }

    /// Returns whether an object has a member for each of `keys`.
    public func has(_ keys: JSONKey..., in object: JSONNode) -> Bool {
        keys.allSatisfy { value(of: $0, in: object) != nil }
    }

    /// Returns the value for `key` in an object, or `nil` if there is none or `object` is not an object.
    public func value(of key: JSONKey, in object: JSONNode) -> JSONNode? {
        guard kind(of: object) == .object else { return nil }
        var low = 0
        var high = count(of: object)
        while low < high {
            let middle = (low + high) / 2
            let found = member(at: middle, of: object)
            switch order(of: found.key, against: key) {
            case 0: return found.value
            case ..<0: low = middle + 1
            default: high = middle
            }
        }
        return nil
    }

    /// Compares the key at `member` with `key`.
    ///
    /// In most cases, the first eight bytes decide.
    private func order(of member: JSONNode, against key: JSONKey) -> Int {
        let entry = nodes[Int(member.index)]
        let range = Int(entry.start)..<Int(entry.end)
        let first = entry.isResolved ? resolved.span.prefixAsNumber(of: range) : source.span.prefixAsNumber(of: range)
        if first != key.start.first { return first < key.start.first ? -1 : 1 }
        return bytes(of: member).ordered(against: key)
    }

    /// Returns the same value as ``value(of:in:)``, but faster if the member is at `position` in canonical order.
    public func value(of key: JSONKey, in object: JSONNode, expectedAt position: Int) -> JSONNode? {
        if position < memberCount(of: object) {
            let member = member(at: position, of: object)
            if bytes(of: member.key).equals(key.utf8.span) { return member.value }
        }
        return value(of: key, in: object)
    }

    /// Returns the members of an object in the order of the source, or an empty array for other values.
    ///
    /// Members that were removed and members with repeated keys are included.
    public func membersInSource(of object: JSONNode) -> [JSONMember] {
        guard kind(of: object) == .object else { return [] }
        var found: [JSONMember] = []
        found.reserveCapacity(count(of: object))
        var index = object.index + 1
        while index < nodes[Int(object.index)].next {
            found.append(JSONMember(key: JSONNode(index)))
            index = nodes[Int(index) + 1].next
        }
        return found
    }

    /// Returns the first element of an array, or `nil` if the array is empty or `array` is not an array.
    public func firstElement(of array: JSONNode) -> JSONNode? {
        guard kind(of: array) == .array else { return nil }
        return element(from: array.index + 1, of: array)
    }

    /// Returns the element that follows `element` in the same array, or `nil` if there is none.
    public func element(after element: JSONNode, of array: JSONNode) -> JSONNode? {
        self.element(from: nodes[Int(element.index)].next, of: array)
    }

    func element(from index: UInt32, of array: JSONNode) -> JSONNode? {
        let end = nodes[Int(array.index)].next
        var index = index
        while index < end {
            if nodes[Int(index)].kind != .removed { return JSONNode(index) }
            index = nodes[Int(index)].next
        }
        return nil
    }

    /// Calls `body` with the node of each element of an array.
    ///
    /// Unlike ``elements(of:)``, the method allocates no memory.
    public func forEachElement(of array: JSONNode, _ body: (JSONNode) throws -> Void) rethrows {
        var element = firstElement(of: array)
        while let current = element {
            try body(current)
            element = self.element(after: current, of: array)
        }
    }

    /// Returns the nodes of the elements of an array, or an empty array for other values.
    public func elements(of array: JSONNode) -> [JSONNode] {
        var found: [JSONNode] = []
        forEachElement(of: array) { found.append($0) }
        return found
    }
}

extension JSONDocument {
    /// Removes the member whose value is the node `value` from an object, if the object contains it.
    ///
    /// The time is proportional to the number of members. To remove many members, use ``removeMembers(from:where:)``.
    public mutating func removeMember(withValue value: JSONNode, from object: JSONNode) {
        removeMembers(from: object) { _, member in member.value == value }
    }

    /// Removes all members of an object that satisfy a predicate.
    public mutating func removeMembers(
        from object: JSONNode, where shouldRemove: (JSONDocument, JSONMember) throws -> Bool
    ) rethrows {
        guard kind(of: object) == .object else { return }
        let start = Int(nodes[Int(object.index)].extra)
        let keys = members[start + 1..<start + 1 + Int(members[start])]
        let kept = try keys.filter { key in try !shouldRemove(self, JSONMember(key: JSONNode(key))) }
        for (offset, key) in kept.enumerated() { members[start + 1 + offset] = key }
        members[start] = UInt32(kept.count)
        isMinified = false
    }

    /// Removes the members with the given keys from an object, and returns the names of the removed members.
    public mutating func removeMembers(_ keys: [JSONKey], from object: JSONNode) -> [String] {
        let present = keys.filter { value(of: $0, in: object) != nil }
        guard !present.isEmpty else { return [] }
        removeMembers(from: object) { document, member in
            present.contains { document.bytes(of: member.key).equals($0.utf8.span) }
        }
        return present.map(\.description)
    }

    /// Removes an element from an array, unless it was already removed.
    public mutating func removeElement(_ element: JSONNode, from array: JSONNode) {
        guard kind(of: array) == .array, kind(of: element) != .removed else { return }
        nodes[Int(element.index)].kind = .removed
        nodes[Int(array.index)].extra -= 1
        isMinified = false
    }

    /// Replaces the value at `node` with a number.
    ///
    /// `node` must not be a key, and `text` must be a number in the syntax of RFC 8259. The strings and numbers of all
    /// replacements in a document must not exceed 3 GiB.
    public mutating func replace(_ node: JSONNode, withNumber text: some Sequence<UInt8>) {
        replace(node, with: .number, text)
    }

    /// Replaces the value at `node` with a string.
    ///
    /// `node` must not be a key, and `text` must be UTF-8. Lone surrogates are accepted in WTF-8, as
    /// ``JSONReadingPolicy/UnpairedSurrogates/keep`` reads them.
    public mutating func replace(_ node: JSONNode, withString text: some Sequence<UInt8>) {
        replace(node, with: .string, text)
    }

    /// Replaces the value at `node`, which must not be a key, with `true` or `false`.
    public mutating func replace(_ node: JSONNode, with value: Bool) {
        replace(node, with: value ? .true : .false, (value ? "true" : "false").utf8)
    }

    /// Replaces the value at `node`, which must not be a key, with null.
    public mutating func replaceWithNull(_ node: JSONNode) {
        replace(node, with: .null, "null".utf8)
    }

    /// Replaces a value unless it was removed.
    private mutating func replace(_ node: JSONNode, with kind: JSONKind, _ text: some Sequence<UInt8>) {
        let index = Int(node.index)
        guard nodes[index].kind != .removed else { return }
        let start = resolved.count
        for byte in text { resolved.append(byte) }
        nodes[index].kind = kind
        isMinified = false
        nodes[index].isResolved = true
        nodes[index].start = UInt32(start)
        nodes[index].end = UInt32(resolved.count)
        nodes[index].extra = 0
        replacedLength += bytes(of: node).canonicalLengthLimit
    }
}
