/// Puts the members of an object in canonical order and finds keys that repeat.
///
/// Most keys differ in their first eight bytes, so these are compared as one number.
enum KeyOrder {
    struct Entry {
        let prefix: UInt64
        let key: UInt32
    }

    /// Above this many members the library's sort is faster than insertion.
    private static let insertionLimit = 40

    /// Appends the sorted members of the object at `index`, whose nodes have all been read.
    static func append(
        membersOf index: Int, to document: inout JSONDocument, policy: JSONReadingPolicy, entries: inout [Entry]
    ) throws(JSONError) {
        entries.removeAll(keepingCapacity: true)
        let end = document.nodes[index].next
        var key = UInt32(index) + 1
        while key < end {
            entries.append(Entry(prefix: document.bytes(of: JSONNode(key)).prefixAsNumber, key: key))
            key = document.nodes[Int(key) + 1].next
        }
        sort(&entries, in: document)
        try resolveDuplicates(in: &entries, of: document, policy: policy)
        document.nodes[index].extra = UInt32(document.members.count)
        document.members.append(UInt32(entries.count))
        for entry in entries { document.members.append(entry.key) }
    }

    private static func sort(_ entries: inout [Entry], in document: JSONDocument) {
        guard entries.count <= insertionLimit else {
            entries.sort { precedes($0, $1, in: document) }
            return
        }
        for unsorted in entries.indices.dropFirst() {
            let entry = entries[unsorted]
            var place = unsorted
            while place > 0, precedes(entry, entries[place - 1], in: document) {
                entries[place] = entries[place - 1]
                place -= 1
            }
            entries[place] = entry
        }
    }

    /// Equal keys stay in the order in which they stand.
    private static func precedes(_ left: Entry, _ right: Entry, in document: JSONDocument) -> Bool {
        if left.prefix != right.prefix { return left.prefix < right.prefix }
        let order = document.bytes(of: JSONNode(left.key)).ordered(against: document.bytes(of: JSONNode(right.key)))
        return order == 0 ? left.key < right.key : order < 0
    }

    private static func resolveDuplicates(
        in entries: inout [Entry], of document: JSONDocument, policy: JSONReadingPolicy
    ) throws(JSONError) {
        guard entries.count > 1 else { return }
        var hasDuplicates = false
        for place in 1..<entries.count where areEqual(entries[place - 1], entries[place], in: document) {
            guard policy.duplicateKeys == .lastWins else {
                throw JSONError(.duplicateKey, at: document.offsetOfMember(entries[place].key))
            }
            hasDuplicates = true
        }
        guard hasDuplicates else { return }
        var last: [Entry] = []
        for entry in entries {
            if let previous = last.last, areEqual(previous, entry, in: document) { last.removeLast() }
            last.append(entry)
        }
        entries = last
    }

    private static func areEqual(_ left: Entry, _ right: Entry, in document: JSONDocument) -> Bool {
        left.prefix == right.prefix
            && document.bytes(of: JSONNode(left.key)).equals(document.bytes(of: JSONNode(right.key)))
    }
}

extension JSONDocument {
    /// Where a member starts in the source, or close to it: a key with escapes has lost its place, so that of its
    /// value is given.
    fileprivate func offsetOfMember(_ key: UInt32) -> Int {
        let entry = nodes[Int(key)]
        return Int(entry.isResolved ? nodes[Int(key) + 1].start : entry.start - 1)
    }
}

extension Span<UInt8> {
    /// The first eight bytes as a big-endian number, missing ones as zero: sorts like the bytes do.
    fileprivate var prefixAsNumber: UInt64 {
        var number: UInt64 = 0
        for index in 0..<Swift.min(count, 8) {
            number |= UInt64(self[index]) << UInt64(56 - 8 * index)
        }
        return number
    }
}
