/// Puts the members of an object in canonical order and finds keys that repeat.
///
/// Most keys differ in their first eight bytes, so these are compared as one number.
struct KeyOrder: ~Escapable {
    /// A key of an object.
    struct Entry: Sendable {
        /// Its first eight bytes.
        let prefix: UInt64
        /// Its node.
        let key: UInt32

        /// The value that fills unused memory.
        static let none = Entry(prefix: 0, key: 0)
    }

    private let nodes: Span<JSONDocument.Node>
    private let source: Span<UInt8>
    private let resolved: Span<UInt8>
    private let policy: JSONReadingPolicy

    /// Above this many members the library's sort is faster than insertion.
    private static let insertionLimit = 40

    @_lifetime(copy nodes, copy source, copy resolved)
    init(nodes: Span<JSONDocument.Node>, source: Span<UInt8>, resolved: Span<UInt8>, policy: JSONReadingPolicy) {
        self.nodes = nodes
        self.source = source
        self.resolved = resolved
        self.policy = policy
    }

    /// Appends the number of keys of an object and the keys in canonical order.
    @inline(never)
    func append(
        _ keys: inout MutableSpan<Entry>, _ range: Range<Int>, to members: inout [UInt32]
    ) throws(JSONError) {
        sort(&keys, range)
        guard !hasRepeated(keys.span.extracting(range)) else {
            return try appendOnce(keys.span.extracting(range), to: &members)
        }
        members.append(addingCapacity: range.count + 1) { members in
            members.append(UInt32(range.count))
            for index in range { members.append(keys[index].key) }
        }
    }

    /// Refuses keys of which some repeat. The keys may be in another order afterwards.
    @inline(never)
    func refuseRepeated(_ keys: inout MutableSpan<Entry>, _ range: Range<Int>) throws(JSONError) {
        sort(&keys, range)
        guard hasRepeated(keys.span.extracting(range)) else { return }
        throw repeated(keys.span.extracting(range))
    }

    private func sort(_ keys: inout MutableSpan<Entry>, _ range: Range<Int>) {
        guard range.count <= Self.insertionLimit else { return sortMany(&keys, range) }
        for unsorted in range {
            let entry = keys[unsorted]
            var place = unsorted
            while place > range.lowerBound, precedes(entry, keys[place - 1]) {
                keys[place] = keys[place - 1]
                place -= 1
            }
            if place < unsorted { keys[place] = entry }
        }
    }

    private func sortMany(_ keys: inout MutableSpan<Entry>, _ range: Range<Int>) {
        var sorted: [Entry] = []
        sorted.reserveCapacity(range.count)
        for index in range { sorted.append(keys[index]) }
        sorted.sort { precedes($0, $1) }
        for index in range { keys[index] = sorted[index - range.lowerBound] }
    }

    /// Equal keys stay in the order in which they stand.
    @inline(__always)
    private func precedes(_ left: Entry, _ right: Entry) -> Bool {
        left.prefix == right.prefix ? precedesInFull(left, right) : left.prefix < right.prefix
    }

    @inline(never)
    private func precedesInFull(_ left: Entry, _ right: Entry) -> Bool {
        let order = bytes(of: left).ordered(against: bytes(of: right))
        return order == 0 ? left.key < right.key : order < 0
    }

    private func areEqual(_ left: Entry, _ right: Entry) -> Bool {
        left.prefix == right.prefix && bytes(of: left).equals(bytes(of: right))
    }

    private func hasRepeated(_ keys: Span<Entry>) -> Bool {
        var index = 1
        while index < keys.count {
            if areEqual(keys[index - 1], keys[index]) { return true }
            index += 1
        }
        return false
    }

    /// Appends keys of which some repeat: the last of equal ones, if that is allowed.
    private func appendOnce(_ keys: Span<Entry>, to members: inout [UInt32]) throws(JSONError) {
        guard policy.duplicateKeys == .lastWins else {
            throw repeated(keys)
        }
        let place = members.count
        members.append(0)
        for index in keys.indices where index + 1 == keys.count || !areEqual(keys[index], keys[index + 1]) {
            members.append(keys[index].key)
        }
        members[place] = UInt32(members.count - place - 1)
    }

    /// Reports the first key that is there already.
    private func repeated(_ keys: Span<Entry>) -> JSONError {
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

    /// Where the quotation mark before a key stands in the source.
    private func offset(of key: JSONDocument.Node) -> Int {
        Int(key.isResolved ? key.extra : key.start) - 1
    }
}
