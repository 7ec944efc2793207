import JSONText
import PropertyList

/// The dictionary keys of an archive, each with its JSON text and its rank in canonical order.
///
/// A key is looked up by the object number of its reference, because most archives store each key once. If the number
/// was not used recently, the key is looked up by its string. The number of keys is limited. The SDK's archives have a
/// few hundred keys.
struct SiftKeyTable {
    /// The maximum number of keys in the table.
    static let maximumKeyCount = 1024
    /// The maximum size of a key in the table, in bytes of the archive.
    static let keySizeLimit = 256
    private static let slotCount = 1024

    private var keys: [[UInt8]] = []
    /// The rank of each entry in the order of the UTF-8 bytes of the keys.
    private(set) var ranks: [UInt32] = []
    /// The indexes of all entries, sorted by rank.
    private var sortedEntries: [Int] = []
    private var entriesByKey: [[UInt8]: Int] = [:]
    // The recently used references to keys and the recently used keys, by the low bits of their object numbers. The two
    // tables are separate, because a key is an error where a reference is expected.
    private var recentReferences = Array(repeating: (object: UInt32.max, entry: UInt32.max), count: slotCount)
    private var recentKeys = Array(repeating: (object: UInt32.max, entry: UInt32.max), count: slotCount)
    private var utf8Buffer: [UInt8] = []
    /// The keys in the form in which they are written, `"key":`, one after another.
    private var keyTexts: [UInt8] = []
    /// The range of each entry in ``keyTexts``.
    private var textRanges: [(start: UInt32, end: UInt32)] = []

    /// Returns the entry of the key that `reference` refers to, or `nil` if `reference` was not used recently.
    @inline(__always)
    func recentEntry(by reference: UInt32) -> Int? {
        let known = recentReferences[Int(reference) & (Self.slotCount - 1)]
        return known.object == reference ? Int(known.entry) : nil
    }

    /// Returns the entry of `key`, or `nil` if the key is too long, or if it is new and the table is full.
    mutating func entry(
        of key: PropertyListNode, by reference: PropertyListNode, in document: PropertyListDocument
    ) -> Int? {
        let slot = Int(key.number) & (Self.slotCount - 1)
        let known =
            recentKeys[slot].object == key.number ? Int(recentKeys[slot].entry) : findOrInsert(key, in: document)
        guard let entry = known else { return nil }
        recentKeys[slot] = (key.number, UInt32(entry))
        recentReferences[Int(reference.number) & (Self.slotCount - 1)] = (reference.number, UInt32(entry))
        return entry
    }

    private mutating func findOrInsert(_ key: PropertyListNode, in document: PropertyListDocument) -> Int? {
        guard document.payload(of: key).count <= Self.keySizeLimit else { return nil }
        utf8Buffer.removeAll(keepingCapacity: true)
        document.appendUTF8(of: key, to: &utf8Buffer)
        if let known = entriesByKey[utf8Buffer] { return known }
        guard keys.count < Self.maximumKeyCount else { return nil }
        let entry = keys.count
        var text: [UInt8] = []
        text.append(jsonString: utf8Buffer.span)
        text.append(UInt8(ascii: ":"))
        textRanges.append((UInt32(keyTexts.count), UInt32(keyTexts.count + text.count)))
        keyTexts += text
        keys.append(utf8Buffer)
        entriesByKey[utf8Buffer] = entry
        updateRanks(inserting: entry)
        return entry
    }

    /// Inserts a new entry into ``sortedEntries``, and updates the ranks.
    private mutating func updateRanks(inserting entry: Int) {
        var (low, high) = (0, sortedEntries.count)
        while low < high {
            let middle = (low + high) / 2
            if keys[sortedEntries[middle]].lexicographicallyPrecedes(keys[entry]) {
                low = middle + 1
            } else {
                high = middle
            }
        }
        sortedEntries.insert(entry, at: low)
        ranks.append(0)
        for rank in sortedEntries.indices { ranks[sortedEntries[rank]] = UInt32(rank) }
    }

    /// Appends a key in the form `"key":`, with a comma before it unless it is the first key.
    @inline(__always)
    func append(keyOf entry: Int, isFirst: Bool, to output: inout TextBuffer) {
        let range = textRanges[entry]
        output.append(atMost: Int(range.end - range.start) + 1) { writer in
            if !isFirst { writer.append(UInt8(ascii: ",")) }
            writer.append(copying: keyTexts.span, from: range.start, to: range.end)
        }
    }
}
