import JSONText
import PropertyList

/// How dictionaries are written: their members in canonical order, which is that of their keys' bytes.
extension SiftValueWriter {
    /// Writes a dictionary, its members by the UTF-8 bytes of their keys; of equal keys the first one counts.
    mutating func write(
        _ pairs: KeyedPairs, of archive: inout KeyedArchive, _ document: PropertyListDocument,
        to output: inout TextBuffer
    ) throws(PropertyListError) {
        try bounds.enter(2 * pairs.count, in: &archive)
        defer { bounds.leave() }
        let first = entries.count
        defer { entries.removeLast(entries.count - first) }
        guard try rank(pairs, of: &archive, document) else {
            return try writeUnranked(pairs, of: &archive, document, to: &output)
        }
        output.append(UInt8(ascii: "{"))
        let start = output.count
        var last: Int?
        for index in first..<entries.count {
            let entry = entries[index]
            if entry.key == last {
                note(.duplicateKey)
                continue
            }
            last = entry.key
            let before = output.count
            keys.append(entry.key, isFirst: before == start, to: &output)
            if try !write(entry, of: pairs, of: &archive, document, to: &output) { output.removeAll(from: before) }
        }
        output.append(UInt8(ascii: "}"))
    }

    @inline(__always)
    private mutating func write(
        _ entry: Entry, of pairs: KeyedPairs, of archive: inout KeyedArchive, _ document: PropertyListDocument,
        to output: inout TextBuffer
    ) throws(PropertyListError) -> Bool {
        if let object = entry.object { return try write(object: object, of: &archive, document, to: &output) }
        let stored = try archive.element(at: entry.position, of: pairs.values)
        return try write(stored, of: &archive, document, to: &output)
    }

    /// Appends the entries of a dictionary whose keys are texts, in canonical order.
    /// - Returns: false, and nothing appended, if there is a key that the table does not take any more.
    private mutating func rank(_ pairs: KeyedPairs, of archive: inout KeyedArchive, _ document: PropertyListDocument)
        throws(PropertyListError) -> Bool
    {
        if rankAgain(pairs, of: archive, document) { return true }
        let first = entries.count
        var others = 0
        for position in 0..<pairs.count {
            let stored = try Self.element(at: position, of: pairs.keys, in: archive, document)
            guard case .text(let text) = try archive.value(of: stored) else {
                others += 1
                continue
            }
            guard let key = keys.entry(of: text, by: stored, in: document) else {
                entries.removeLast(entries.count - first)
                return false
            }
            let object = Self.object(at: position, of: pairs.values, in: archive, document)
            entries.append(Entry(key: key, position: position, object: object))
        }
        if others > 0 { note(.nonStringKey, count: others) }
        sort(from: first)
        return true
    }

    /// The same where all keys were met lately, as they mostly were: each is put where its rank says, which is faster than
    /// to sort them.
    /// - Returns: false, and nothing appended, if they were not, or one is there twice.
    private mutating func rankAgain(
        _ pairs: KeyedPairs, of archive: borrowing KeyedArchive, _ document: PropertyListDocument
    ) -> Bool {
        for position in 0..<pairs.count {
            let object = Self.object(at: position, of: pairs.values, in: archive, document)
            guard let number = document.number(at: position, of: pairs.keys), let key = keys.recentEntry(by: number),
                ranked.insert(Entry(key: key, position: position, object: object), at: Int(keys.ranks[key]))
            else {
                ranked.removeAll { _ in }
                return false
            }
        }
        ranked.removeAll { entries.append($0) }
        return true
    }

    /// The ranks are looked up when all keys of the dictionary have theirs.
    private mutating func sort(from first: Int) {
        for index in first..<entries.count { entries[index].rank(keys.ranks[entries[index].key]) }
        entries[first...].sort()
    }

    /// Writes a dictionary that has keys beyond those of the table.
    private mutating func writeUnranked(
        _ pairs: KeyedPairs, of archive: inout KeyedArchive, _ document: PropertyListDocument,
        to output: inout TextBuffer
    ) throws(PropertyListError) {
        var members: [(key: [UInt8], position: Int)] = []
        for position in 0..<pairs.count {
            let stored = try Self.element(at: position, of: pairs.keys, in: archive, document)
            guard case .text(let text) = try archive.value(of: stored) else {
                note(.nonStringKey)
                continue
            }
            keyBytes += document.payload(of: text).count
            guard output.count + keyBytes <= outputLimit else { throw Self.expanded(at: text, in: document) }
            var key: [UInt8] = []
            document.appendUTF8(of: text, to: &key)
            members.append((key, position))
        }
        members.sort { left, right in
            let order = left.key.span.ordered(against: right.key.span)
            return order == 0 ? left.position < right.position : order < 0
        }
        output.append(UInt8(ascii: "{"))
        let start = output.count
        for (index, member) in members.enumerated() {
            if index > 0, members[index - 1].key == member.key {
                note(.duplicateKey)
                continue
            }
            let before = output.count
            if before > start { output.append(UInt8(ascii: ",")) }
            output.append(jsonString: member.key.span)
            output.append(UInt8(ascii: ":"))
            let value = try archive.element(at: member.position, of: pairs.values)
            if try !write(value, of: &archive, document, to: &output) { output.removeAll(from: before) }
        }
        output.append(UInt8(ascii: "}"))
    }
}

extension SiftValueWriter {
    /// A member of a dictionary that is being written.
    struct Entry: Comparable {
        /// Rank of the key, entry of the key, position of the member: in this order, for one comparison.
        private var packed: UInt64
        /// The value, if it is plain.
        let object: PropertyListNode?

        var key: Int { Int(packed >> 32 & 0xFFFF) }
        var position: Int { Int(packed & 0xFFFF_FFFF) }

        init(key: Int, position: Int, object: PropertyListNode?) {
            packed = UInt64(key) << 32 | UInt64(position)
            self.object = object
        }

        mutating func rank(_ rank: UInt32) {
            packed |= UInt64(rank) << 48
        }

        static func < (left: Entry, right: Entry) -> Bool { left.packed < right.packed }
    }
}
