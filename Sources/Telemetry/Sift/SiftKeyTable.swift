import JSONText
import PropertyList

/// The keys of dictionaries that were met in an archive, each with its JSON text and its place in canonical order.
///
/// Most archives store a key once, so it is known again by its object; of the others the text tells. Only so many keys are
/// remembered: no archive of the SDK has more than some hundred.
struct SiftKeyTable {
    /// The most keys that are remembered, and the most bytes of one.
    private static let limit = 1024
    private static let lengthLimit = 256
    private static let slotCount = 1024

    /// The keys in UTF-8, and each as it is written: `"key":`.
    private var keys: [[UInt8]] = []
    private var texts: [[UInt8]] = []
    /// The place of each entry in the order of the UTF-8 bytes of the keys.
    private(set) var ranks: [UInt32] = []
    /// The entries in that order.
    private var order: [Int] = []
    private var byText: [[UInt8]: Int] = [:]
    /// What was met last, by the low bits of the object's number.
    private var recent = Array(repeating: (object: UInt32.max, entry: 0), count: slotCount)
    private var utf8: [UInt8] = []

    /// The entry of a key; nil if it is too long, or new and the table is full.
    @inline(__always)
    mutating func entry(of key: PropertyListNode, in document: PropertyListDocument) -> Int? {
        let slot = Int(key.number) & (Self.slotCount - 1)
        if recent[slot].object == key.number { return recent[slot].entry }
        guard let entry = find(key, in: document) else { return nil }
        recent[slot] = (key.number, entry)
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
        keys.append(utf8)
        texts.append(text)
        byText[utf8] = entry
        rank(entry)
        return entry
    }

    /// Puts a new entry in its place; the ones behind it move on.
    private mutating func rank(_ entry: Int) {
        var (low, high) = (0, order.count)
        while low < high {
            let middle = (low + high) / 2
            if keys[order[middle]].lexicographicallyPrecedes(keys[entry]) { low = middle + 1 } else { high = middle }
        }
        order.insert(entry, at: low)
        ranks.append(0)
        for place in order.indices { ranks[order[place]] = UInt32(place) }
    }

    /// Appends `"key":`.
    @inline(__always)
    func append(_ entry: Int, to output: inout [UInt8]) {
        output.append(contentsOf: texts[entry])
    }
}
