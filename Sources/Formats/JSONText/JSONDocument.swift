/// A JSON text as a value, without loss: numbers keep their text, strings their scalars, arrays their order.
///
/// The value is one flat list of nodes over the source bytes, so that reading allocates nothing per value and a
/// document can be read into again and again. ``JSONNode`` is a place in that list; it means something only
/// together with the document that it came from, until the next ``read(_:policy:)``.
///
/// The members of an object are kept in the order of their keys' UTF-8 bytes, which is the canonical order.
///
/// ```swift
/// let document = try JSONDocument(Array(#"{"b":1.0,"a":[true]}"#.utf8))
/// let number = document.value(of: "b", in: document.root).map { document.string(of: $0) }  // 1.0
/// let canonical = document.canonicalBytes(of: document.root)  // {"a":[true],"b":1.0}
/// ```
public struct JSONDocument: Sendable {
    /// The longest text that can be read, in bytes.
    public static let maximumLength = 1 << 30

    /// The text that was read.
    @usableFromInline var source: [UInt8] = []
    /// Strings whose escapes were resolved, and the texts of values that were replaced.
    @usableFromInline var resolved = TextBuffer(Array("null".utf8))
    /// The values in the order of the text, and room for more.
    @usableFromInline var nodes = [Node.null]
    /// For each object the number of its members, then the nodes of their keys in canonical order.
    @usableFromInline var members: [UInt32] = []
    /// Memory for the keys of objects that are open while a text is read.
    var keys: [KeyOrder.Entry] = []
    /// By how much replaced values may make the canonical form longer than the text that was read.
    var replacedLength = 0
    /// Whether nothing stands between the values of the text that was read, no key was there twice, and nothing was changed
    /// since.
    var isDense = false

    /// Makes a document that holds null, to be read into.
    public init() {}

    /// Reads a text.
    /// - Throws: ``JSONError`` with the byte offset of the fault.
    public init(_ source: [UInt8], policy: JSONReadingPolicy = .strict) throws(JSONError) {
        try read(source, policy: policy)
    }

    /// One value. Text and numbers have their bytes in `source` or `resolved`; an array or an object spans its
    /// brackets in `source`.
    @usableFromInline struct Node: Sendable {
        @usableFromInline var kind: JSONKind
        /// Whether `start` and `end` count in `resolved` instead of in `source`.
        @usableFromInline var isResolved = false
        @usableFromInline var start: UInt32
        @usableFromInline var end: UInt32
        /// The node that follows this value and all that it contains.
        @usableFromInline var next: UInt32
        /// For an array the number of its elements, for an object the place of its entry in `members`, for a string
        /// whose escapes were resolved the place of its first byte in the source.
        @usableFromInline var extra: UInt32 = 0

        var isContainer: Bool { kind == .array || kind == .object }

        /// Whether all elements of an array are scalars or empty: then there is one node for each.
        /// - Parameter index: the place of the array.
        func isFlatArray(at index: Int) -> Bool { kind == .array && Int(next) == index + 1 + Int(extra) }

        /// The null of a document without a text, at the start of `resolved`.
        static let null = Node(kind: .null, isResolved: true, start: 0, end: 4, next: 1)
    }
}

/// The kind of a value.
public enum JSONKind: UInt8, Sendable {
    /// A value that was removed after reading; never met while walking a document.
    case removed
    /// `null`
    case null
    /// `true`
    case `true`
    /// `false`
    case `false`
    /// A number, as text.
    case number
    /// A string.
    case string
    /// An array.
    case array
    /// An object.
    case object
}

/// The kinds of a few values in their order, which can be compared at once.
public struct KindPattern: Hashable, Sendable {
    /// A byte for each value, the last one lowest.
    private var kinds: UInt64 = 0

    /// How many values there may be.
    static let most = 8

    /// Begins with no values.
    init() {}

    /// The pattern of values of these kinds.
    public init(_ kinds: [JSONKind]) {
        precondition(kinds.count <= Self.most, "more than eight kinds")
        for kind in kinds { append(kind) }
    }

    mutating func append(_ kind: JSONKind) { kinds = kinds << 8 | UInt64(kind.rawValue) }
}

/// A place in a ``JSONDocument``.
public struct JSONNode: Hashable, Sendable {
    @usableFromInline let index: UInt32

    @usableFromInline init(_ index: UInt32) {
        self.index = index
    }
}

/// A member of an object: the nodes of its key and of its value.
public struct JSONMember: Sendable {
    /// The key, a string.
    public let key: JSONNode

    @inlinable init(key: JSONNode) { self.key = key }

    /// The value.
    @inlinable public var value: JSONNode { JSONNode(key.index &+ 1) }
}

extension JSONDocument {
    /// The outermost value.
    @inlinable public var root: JSONNode { JSONNode(0) }

    /// The kind of the value.
    @inlinable public func kind(of node: JSONNode) -> JSONKind {
        nodes[Int(node.index)].kind
    }

    /// The bytes of a string (UTF-8, escapes resolved) or of a number (its text); for any other value the text it was
    /// read from, whatever was changed inside since.
    @inlinable
    @_lifetime(borrow self)
    public func bytes(of node: JSONNode) -> Span<UInt8> {
        let entry = nodes[Int(node.index)]
        let range = Int(entry.start)..<Int(entry.end)
        return entry.isResolved ? resolved.span.extracting(range) : source.span.extracting(range)
    }

    /// Where the value stands in the source, in bytes (of a string, what is between the quotation marks), if it has not
    /// been replaced. A string whose escapes were resolved has no such place.
    public func sourceRange(of node: JSONNode) -> Range<Int>? {
        let entry = nodes[Int(node.index)]
        return entry.isResolved ? nil : Int(entry.start)..<Int(entry.end)
    }

    /// The string or number text as a `String`; a lone surrogate becomes U+FFFD three times, once for each byte.
    public func string(of node: JSONNode) -> String {
        String(readingUTF8: bytes(of: node))
    }

    /// How many elements or members the value has; 0 for anything but an array or an object.
    @inlinable public func count(of node: JSONNode) -> Int {
        let entry = nodes[Int(node.index)]
        return switch entry.kind {
        case .array: Int(entry.extra)
        case .object: Int(members[Int(entry.extra)])
        default: 0
        }
    }

    /// How many members the value has; 0 for anything but an object.
    @inlinable public func memberCount(of node: JSONNode) -> Int {
        kind(of: node) == .object ? count(of: node) : 0
    }

    /// The member of an object at a place in canonical order, below ``memberCount(of:)``.
    @inlinable public func member(at position: Int, of object: JSONNode) -> JSONMember {
        JSONMember(key: JSONNode(members[Int(nodes[Int(object.index)].extra) + 1 + position]))
    }

    /// The value of a key; nil if there is none, or if the value asked is no object.
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

    /// Less than, equal to or greater than 0, as the key of a member sorts before, with or after a key: mostly the first eight
    /// bytes tell.
    @inline(__always)
    private func order(of member: JSONNode, against key: JSONKey) -> Int {
        let entry = nodes[Int(member.index)]
        let range = Int(entry.start)..<Int(entry.end)
        let first = entry.isResolved ? resolved.span.prefixAsNumber(of: range) : source.span.prefixAsNumber(of: range)
        if first != key.start.first { return first < key.start.first ? -1 : 1 }
        return bytes(of: member).ordered(against: key)
    }

    /// The kinds of the elements of an array of up to eight that are scalars or empty, as a pattern; an empty one for anything
    /// else.
    public func kinds(of array: JSONNode) -> KindPattern {
        var pattern = KindPattern()
        let entry = nodes[Int(array.index)]
        guard entry.isFlatArray(at: Int(array.index)), entry.extra <= KindPattern.most else { return pattern }
        for index in array.index + 1..<entry.next { pattern.append(nodes[Int(index)].kind) }
        return pattern
    }

    /// The value of a key as ``value(of:in:)`` finds it, found at once if it is at a place in canonical order.
    public func value(of key: JSONKey, in object: JSONNode, mostlyAt position: Int) -> JSONNode? {
        if position < memberCount(of: object) {
            let member = member(at: position, of: object)
            if bytes(of: member.key).equals(key.utf8.span) { return member.value }
        }
        return value(of: key, in: object)
    }

    /// The first element of an array, nil if it is empty or no array.
    @inlinable public func firstElement(of array: JSONNode) -> JSONNode? {
        guard kind(of: array) == .array else { return nil }
        return element(from: array.index + 1, of: array)
    }

    /// The element that follows another one of the same array.
    @inlinable public func element(after element: JSONNode, of array: JSONNode) -> JSONNode? {
        self.element(from: nodes[Int(element.index)].next, of: array)
    }

    @inlinable func element(from index: UInt32, of array: JSONNode) -> JSONNode? {
        let end = nodes[Int(array.index)].next
        var index = index
        while index < end {
            if nodes[Int(index)].kind != .removed { return JSONNode(index) }
            index = nodes[Int(index)].next
        }
        return nil
    }

    /// The elements of an array; empty for anything else. For convenience, not for the hot path.
    public func elements(of array: JSONNode) -> [JSONNode] {
        var found: [JSONNode] = []
        var element = firstElement(of: array)
        while let current = element {
            found.append(current)
            element = self.element(after: current, of: array)
        }
        return found
    }
}
