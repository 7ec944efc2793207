import JSONText
import PropertyList

/// The dictionary keys of an archive, each with its JSON text and its rank in canonical order.
///
/// A key is looked up by the object number of its reference, because most archives store each key once. If the number
/// is unknown, the key is looked up by its string. The number of keys is limited. Archives of the SDK have a few
/// hundred.
struct SiftKeyTable {
    /// The maximum number of keys in the table.
    static let limit = 1024
    /// The maximum size of a key in the table, in bytes of the archive.
    static let lengthLimit = 256
    private static let slotCount = 1024

    private var keys: [[UInt8]] = []
    /// The rank of each entry in the order of the UTF-8 bytes of the keys.
    private(set) var ranks: [UInt32] = []
    /// The entries, sorted by rank.
    private var order: [Int] = []
    private var byText: [[UInt8]: Int] = [:]
    // The recently used references to keys and the recently used keys, by the low bits of their object numbers. They are
    // separate, because a key where a reference is expected is an error.
    private var references = Array(repeating: (object: UInt32.max, entry: UInt32.max), count: slotCount)
    private var recent = Array(repeating: (object: UInt32.max, entry: UInt32.max), count: slotCount)
    private var utf8: [UInt8] = []
    /// The keys in the form in which they are written, `"key":`, one after another.
    private var texts: [UInt8] = []
    /// The range of each entry in ``texts``.
    private var textRanges: [(start: UInt32, end: UInt32)] = []

    /// Returns the entry of the key with the reference `reference`, or `nil` if it was not used recently.
    @inline(__always)
    func recentEntry(by reference: UInt32) -> Int? {
        let known = references[Int(reference) & (Self.slotCount - 1)]
        return known.object == reference ? Int(known.entry) : nil
    }

    /// Returns the entry of `key`, or `nil` if the key is too long, or if it is new and the table is full.
    mutating func entry(
        of key: PropertyListNode, by reference: PropertyListNode, in document: PropertyListDocument
    ) -> Int? {
        let slot = Int(key.number) & (Self.slotCount - 1)
        let known = recent[slot].object == key.number ? Int(recent[slot].entry) : find(key, in: document)
        guard let entry = known else { return nil }
        recent[slot] = (key.number, UInt32(entry))
        references[Int(reference.number) & (Self.slotCount - 1)] = (reference.number, UInt32(entry))
        return entry
    }

    private mutating func find(_ key: PropertyListNode, in document: PropertyListDocument) -> Int? {
        guard document.payload(of: key).count <= Self.lengthLimit else { return nil }
        utf8.removeAll(keepingCapacity: true)
        document.appendUTF8(of: key, to: &utf8)
        if let known = byText[utf8] { return known }
        guard keys.count < Self.limit else { return nil }
        let entry = keys.count
        var text: [UInt8] = []
        text.append(jsonString: utf8.span)
        text.append(UInt8(ascii: ":"))
        textRanges.append((UInt32(texts.count), UInt32(texts.count + text.count)))
        texts += text
        keys.append(utf8)
        byText[utf8] = entry
        rank(entry)
        return entry
    }

    /// Inserts a new entry into ``order``, and updates the ranks.
    private mutating func rank(_ entry: Int) {
        var (low, high) = (0, order.count)
        while low < high {
            let middle = (low + high) / 2
            if keys[order[middle]].lexicographicallyPrecedes(keys[entry]) { low = middle + 1 } else { high = middle }
        }
        order.insert(entry, at: low)
        ranks.append(0)
        for rank in order.indices { ranks[order[rank]] = UInt32(rank) }
    }

    /// Appends a key in the form `"key":`, with a comma before it unless it is the first key.
    @inline(__always)
    func append(_ entry: Int, isFirst: Bool, to output: inout TextBuffer) {
        let range = textRanges[entry]
        output.append(atMost: Int(range.end - range.start) + 1) { writer in
            if !isFirst { writer.append(UInt8(ascii: ",")) }
            writer.append(copying: texts.span, from: range.start, to: range.end)
        }
    }
}
