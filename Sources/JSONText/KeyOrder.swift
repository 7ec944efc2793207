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
        membersOf index: Int, to document: inout JSONDocument, policy: JSONReadingPolicy,
        entries: inout [Entry]
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
        document.members.append(addingCapacity: entries.count + 1) { members in
            members.append(UInt32(entries.count))
            for entry in entries { members.append(entry.key) }
        }
    }

    private static func sort(_ entries: inout [Entry], in document: JSONDocument) {
        guard entries.count <= insertionLimit else {
            entries.sort { precedes($0, $1, in: document) }
            return
        }
        var sorted = entries.mutableSpan
        for unsorted in sorted.indices {
            let entry = sorted[unsorted]
            var place = unsorted
            while place > 0, precedes(entry, sorted[place - 1], in: document) {
                sorted[place] = sorted[place - 1]
                place -= 1
            }
            if place < unsorted { sorted[place] = entry }
        }
    }

    /// Equal keys stay in the order in which they stand.
    @inline(__always)
    private static func precedes(_ left: Entry, _ right: Entry, in document: JSONDocument) -> Bool {
        left.prefix == right.prefix ? precedesInFull(left, right, in: document) : left.prefix < right.prefix
    }

    private static func precedesInFull(_ left: Entry, _ right: Entry, in document: JSONDocument) -> Bool {
        let order = document.bytes(of: JSONNode(left.key)).ordered(
            against: document.bytes(of: JSONNode(right.key)))
        return order == 0 ? left.key < right.key : order < 0
    }

    private static func resolveDuplicates(
        in entries: inout [Entry], of document: JSONDocument, policy: JSONReadingPolicy
    ) throws(JSONError) {
        guard entries.count > 1 else { return }
        var firstRepeated: UInt32?
        for place in 1..<entries.count where areEqual(entries[place - 1], entries[place], in: document) {
            firstRepeated = Swift.min(firstRepeated ?? .max, entries[place].key)
        }
        guard let firstRepeated else { return }
        guard policy.duplicateKeys == .lastWins else {
            throw JSONError(.duplicateKey, at: document.offsetOfKey(firstRepeated))
        }
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
    /// Where the quotation mark before a key stands in the source.
    fileprivate func offsetOfKey(_ key: UInt32) -> Int {
        let entry = nodes[Int(key)]
        return Int(entry.isResolved ? entry.extra : entry.start) - 1
    }
}
