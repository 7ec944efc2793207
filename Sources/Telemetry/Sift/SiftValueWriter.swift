import JSONText
import PropertyList

/// Writes values of an archive as canonical JSON, straight from its bytes.
///
/// A value without a JSON form takes the smallest entry or element that holds it along, and is noted. Recursion is bounded by
/// the depth that the bounds of an event allow.
///
/// Source: "Sift iOS SDK: on-disk store, list request", section 6.2.
struct SiftValueWriter {
    private var keys = SiftKeyTable()
    /// The members of the dictionaries that are being written, those of the innermost last.
    private var entries: [Entry] = []
    private var ranked = SiftRankedPlaces(empty: Entry(key: 0, position: 0, object: nil))
    /// What was noted of the event that is being written.
    var notes = SiftNotes()
    /// Where the event stands in its list, and the member that is being written.
    var event = 0
    var member = ""
    /// What the event may expand to.
    var bounds: SiftEventBounds
    /// How long the output may get.
    var outputLimit = Int.max
    /// How many bytes of long keys were looked at; they need not come out, for a key can be there twice.
    var keyBytes = 0

    init(_ bounds: SiftEventBounds) {
        self.bounds = bounds
    }

    /// Forgets what there was to say about the event before.
    mutating func begin(event: Int, outputLimit: Int) {
        notes.removeAll()
        self.event = event
        self.outputLimit = outputLimit
        keyBytes = 0
    }

    private mutating func note(_ subject: SiftNotes.Subject, count: Int = 1) {
        let (event, member) = (event, member)
        notes.add(subject, count: count, at: "event \(event), \(member)")
    }

    /// Writes a value.
    /// - Parameter document: that of the archive, which is borrowed all the way, for it would be retained for each value.
    /// - Returns: whether it has a JSON form; where it has none, nothing was written.
    /// - Throws: `PropertyListError` for what cannot be read at all.
    mutating func write(
        _ stored: PropertyListNode, of archive: inout KeyedArchive, _ document: PropertyListDocument,
        to output: inout TextBuffer
    ) throws(PropertyListError) -> Bool {
        if let plain = document.object(of: stored, among: archive.objects) {
            return try write(object: plain, of: &archive, document, to: &output)
        }
        guard let object = try archive.object(stored) else { return withoutForm() }
        return try write(object: object, of: &archive, document, to: &output)
    }

    /// Writes an object; most are scalars, which need no look at a class.
    private mutating func write(
        object: PropertyListNode, of archive: inout KeyedArchive, _ document: PropertyListDocument,
        to output: inout TextBuffer
    ) throws(PropertyListError) -> Bool {
        // A text that is shared costs the archive a reference, the output all of its length.
        guard output.count <= outputLimit else { throw Self.expanded(at: object, in: document) }
        switch document.kind(of: object) {
        case .real: return write(document.real(of: object), to: &output)
        case .text: output.append(jsonText: object, of: document)
        case .integer: write(document.integer(of: object), to: &output)
        case .boolean: output.append(document.boolean(of: object) ? Self.true : Self.false)
        case .dictionary: return try writeInstance(object, of: &archive, document, to: &output)
        default: return withoutForm()
        }
        return true
    }

    private mutating func writeInstance(
        _ object: PropertyListNode, of archive: inout KeyedArchive, _ document: PropertyListDocument,
        to output: inout TextBuffer
    ) throws(PropertyListError) -> Bool {
        switch try archive.value(ofObject: object) {
        case .text(let node): output.append(jsonText: node, of: document)
        case .real(let value): return write(value, to: &output)
        case .integer(let value): write(value, to: &output)
        case .boolean(let value): output.append(value ? Self.true : Self.false)
        case .null: output.append(Self.null)
        case .array(let elements, _): try write(elements, of: &archive, document, to: &output)
        case .dictionary(let pairs): try write(pairs, of: &archive, document, to: &output)
        case .none, .data, .date, .instance, .unrepresentable: return withoutForm()
        }
        return true
    }

    private mutating func withoutForm() -> Bool {
        note(.unknownClass)
        return false
    }

    private mutating func write(_ real: Double, to output: inout TextBuffer) -> Bool {
        guard real.isFinite else {
            note(.notFinite)
            return false
        }
        output.append(jsonNumber: real)
        return true
    }

    private func write(_ integer: PropertyListInteger, to output: inout TextBuffer) {
        if integer.isNegative { output.append(UInt8(ascii: "-")) }
        output.append(decimal: integer.isNegative ? 0 &- integer.bits : integer.bits)
    }

    @inline(__always)
    private static func element(
        at position: Int, of elements: KeyedElements, in archive: borrowing KeyedArchive,
        _ document: PropertyListDocument
    ) throws(PropertyListError) -> PropertyListNode {
        if let plain = document.reference(at: position, of: elements) { return plain }
        return try archive.element(at: position, of: elements)
    }

    /// The object at a position, if it is plain. All of a dictionary are looked up before the first is written: the places
    /// that lead to one are far apart, and the processor fetches those of several at once if nothing is done in between.
    @inline(__always)
    private static func object(
        at position: Int, of elements: KeyedElements, in archive: borrowing KeyedArchive,
        _ document: PropertyListDocument
    ) -> PropertyListNode? {
        guard let reference = document.reference(at: position, of: elements) else { return nil }
        return document.object(of: reference, among: archive.objects)
    }

    private static func expanded(at node: PropertyListNode, in document: PropertyListDocument) -> PropertyListError {
        PropertyListError(
            .budgetExceeded, at: document.offset(of: node), "an event that expands to too many bytes")
    }

    private static let `true`: TextPiece = "true"
    private static let `false`: TextPiece = "false"
    private static let null: TextPiece = "null"

    private mutating func write(
        _ elements: KeyedElements, of archive: inout KeyedArchive, _ document: PropertyListDocument,
        to output: inout TextBuffer
    ) throws(PropertyListError) {
        try bounds.enter(elements.count, in: &archive)
        defer { bounds.leave() }
        output.append(UInt8(ascii: "["))
        let start = output.count
        for position in 0..<elements.count {
            let before = output.count
            if before > start { output.append(UInt8(ascii: ",")) }
            let element = try Self.element(at: position, of: elements, in: archive, document)
            if try !write(element, of: &archive, document, to: &output) { output.removeAll(from: before) }
        }
        output.append(UInt8(ascii: "]"))
    }

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
    private struct Entry: Comparable {
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
