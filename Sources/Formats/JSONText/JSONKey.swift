/// The key of a member, stored as UTF-8.
///
/// Creating a key allocates memory, so code that is executed often should store its keys in constants.
public struct JSONKey: Hashable, Sendable, ExpressibleByStringLiteral {
    /// The bytes of the key.
    public let utf8: [UInt8]
    /// The first bytes of the key, which suffice to distinguish most keys.
    public let start: KeyPrefix

    /// Creates a key from a string.
    public init(_ text: String) {
        let bytes = Array(text.utf8)
        utf8 = bytes
        start = KeyPrefix(bytes.span)
    }

    /// Creates a key from a literal.
    public init(stringLiteral text: String) {
        self.init(text)
    }
}

extension JSONKey: Comparable {
    /// Returns whether the bytes of `left` are before those of `right`.
    public static func < (left: JSONKey, right: JSONKey) -> Bool { left.utf8.span.ordered(against: right) < 0 }
}

extension JSONKey: CustomStringConvertible {
    /// The key as a string.
    public var description: String { String(decoding: utf8, as: UTF8.self) }
}

/// The first 24 bytes of a key as numbers, which suffice to compare almost all keys.
///
/// The value contains no references, so sharing it between threads needs no reference counting.
public struct KeyPrefix: Hashable, Sendable {
    /// The first eight bytes, as returned by `prefixAsNumber`.
    let first: UInt64
    private let second: UInt64
    private let third: UInt64
    private let count: Int

    /// Creates the prefix of `key`.
    public init(_ key: Span<UInt8>) {
        first = key.prefixAsNumber
        second = key.count > 8 ? key.extracting(droppingFirst: 8).prefixAsNumber : 0
        third = key.count > 16 ? key.extracting(droppingFirst: 16).prefixAsNumber : 0
        count = key.count
    }

    /// Returns a negative number, 0 or a positive number if this key sorts before, is equal to, or sorts after `other`.
    ///
    /// Returns `nil` if the first 24 bytes do not decide the order.
    public func ordered(against other: KeyPrefix) -> Int? {
        if first != other.first { return first < other.first ? -1 : 1 }
        if second != other.second { return second < other.second ? -1 : 1 }
        if third != other.third { return third < other.third ? -1 : 1 }
        // Missing bytes are compared as zeros, so keys that differ only in trailing NUL bytes are ordered by length.
        return Swift.max(count, other.count) <= 24 ? count - other.count : nil
    }
}

/// A sorter that brings the members of an object into canonical order and finds repeated keys.
///
/// Most keys differ in their first eight bytes, which are compared as one number.
struct KeySorter: ~Escapable {
    /// A key of an object.
    struct Entry: Sendable {
        /// The first eight bytes of the key as a ``prefixAsNumber``.
        let prefix: UInt64
        /// The index of the key's node.
        let key: UInt32

        /// A placeholder for entries that are not in use.
        static let none = Entry(prefix: 0, key: 0)
    }

    private let nodes: Span<JSONDocument.Node>
    private let source: Span<UInt8>
    private let resolved: Span<UInt8>
    private let policy: JSONReadingPolicy

    /// The maximum number of members for which insertion sort is faster than the sort of the standard library.
    private static let insertionLimit = 40

    @_lifetime(copy nodes, copy source, copy resolved)
    init(nodes: Span<JSONDocument.Node>, source: Span<UInt8>, resolved: Span<UInt8>, policy: JSONReadingPolicy) {
        self.nodes = nodes
        self.source = source
        self.resolved = resolved
        self.policy = policy
    }

    /// Appends to `members` the number of keys of an object, and then the node indices of the keys in canonical order.
    func append(
        _ keys: inout MutableSpan<Entry>, _ range: Range<Int>, to members: inout [UInt32]
    ) throws(JSONError) {
        sort(&keys, range)
        guard !hasRepeatedKeys(keys.span.extracting(range)) else {
            return try appendLastOfEqual(keys.span.extracting(range), to: &members)
        }
        members.append(addingCapacity: range.count + 1) { members in
            members.append(UInt32(range.count))
            for index in range { members.append(keys[index].key) }
        }
    }

    /// Sorts the keys of an object, and throws an error if a key is repeated.
    func rejectRepeatedKeys(_ keys: inout MutableSpan<Entry>, _ range: Range<Int>) throws(JSONError) {
        sort(&keys, range)
        guard hasRepeatedKeys(keys.span.extracting(range)) else { return }
        throw repeatedKeyError(keys.span.extracting(range))
    }

    private func sort(_ keys: inout MutableSpan<Entry>, _ range: Range<Int>) {
        guard range.count <= Self.insertionLimit else { return sortMany(&keys, range) }
        for unsorted in range {
            let entry = keys[unsorted]
            var hole = unsorted
            while hole > range.lowerBound, precedes(entry, keys[hole - 1]) {
                keys[hole] = keys[hole - 1]
                hole -= 1
            }
            if hole < unsorted { keys[hole] = entry }
        }
    }

    private func sortMany(_ keys: inout MutableSpan<Entry>, _ range: Range<Int>) {
        var sorted: [Entry] = []
        sorted.reserveCapacity(range.count)
        for index in range { sorted.append(keys[index]) }
        sorted.sort { precedes($0, $1) }
        for index in range { keys[index] = sorted[index - range.lowerBound] }
    }

    /// Returns whether `left` sorts before `right`.
    ///
    /// If the keys are equal, their positions in the source decide.
    private func precedes(_ left: Entry, _ right: Entry) -> Bool {
        left.prefix == right.prefix ? precedesInFull(left, right) : left.prefix < right.prefix
    }

    private func precedesInFull(_ left: Entry, _ right: Entry) -> Bool {
        let order = bytes(of: left).ordered(against: bytes(of: right))
        return order == 0 ? left.key < right.key : order < 0
    }

    private func areEqual(_ left: Entry, _ right: Entry) -> Bool {
        left.prefix == right.prefix && bytes(of: left).equals(bytes(of: right))
    }

    private func hasRepeatedKeys(_ keys: Span<Entry>) -> Bool {
        var index = 1
        while index < keys.count {
            if areEqual(keys[index - 1], keys[index]) { return true }
            index += 1
        }
        return false
    }

    /// Appends the last key of each group of equal keys, or throws an error if the policy rejects repeated keys.
    private func appendLastOfEqual(_ keys: Span<Entry>, to members: inout [UInt32]) throws(JSONError) {
        guard policy.duplicateKeys == .lastWins else {
            throw repeatedKeyError(keys)
        }
        let countIndex = members.count
        members.append(0)
        for index in keys.indices where index + 1 == keys.count || !areEqual(keys[index], keys[index + 1]) {
            members.append(keys[index].key)
        }
        members[countIndex] = UInt32(members.count - countIndex - 1)
    }

    /// Returns the error for the first key, by position in the source, that repeats an earlier key.
    private func repeatedKeyError(_ keys: Span<Entry>) -> JSONError {
        var firstRepeated = UInt32.max
        for index in keys.indices.dropFirst() where areEqual(keys[index - 1], keys[index]) {
            firstRepeated = min(firstRepeated, keys[index].key)
        }
        return JSONError(.duplicateKey, at: offset(of: nodes[Int(firstRepeated)]))
    }

    @_lifetime(copy self)
    private func bytes(of entry: Entry) -> Span<UInt8> {
        let key = nodes[Int(entry.key)]
        return (key.isResolved ? resolved : source).extracting(Int(key.start)..<Int(key.end))
    }

    /// Returns the source offset of the quotation mark before a key.
    private func offset(of key: JSONDocument.Node) -> Int {
        Int(key.isResolved ? key.extra : key.start) - 1
    }
}
