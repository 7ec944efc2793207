import JSONText
import PropertyList

/// The keys of dictionaries that were met in an archive, each with its JSON text and its place in canonical order.
///
/// Most archives store a key, and the reference to it, once, so it is known again by its object; of the others the text
/// tells. The number of keys that are remembered is limited: no archive of the SDK has more than some hundred.
struct SiftKeyTable {
    /// The most keys that are remembered, and the most bytes of one.
    static let limit = 1024
    private static let lengthLimit = 256
    private static let slotCount = 1024

    /// The keys in UTF-8.
    private var keys: [[UInt8]] = []
    /// The place of each entry in the order of the UTF-8 bytes of the keys.
    private(set) var ranks: [UInt32] = []
    /// The entries in that order.
    private var order: [Int] = []
    private var byText: [[UInt8]: Int] = [:]
    /// What was met last, by the low bits of the object's number: references to keys, and keys. They are kept apart, for a
    /// key that stands where a reference has to be is an error.
    private var references = Array(repeating: (object: UInt32.max, entry: UInt32.max), count: slotCount)
    private var recent = Array(repeating: (object: UInt32.max, entry: UInt32.max), count: slotCount)
    private var utf8: [UInt8] = []
    /// All keys as they are written, `"key":`, one after another, and where each of them is.
    private var texts: [UInt8] = []
    private var places: [(start: UInt32, end: UInt32)] = []

    /// The entry of the key that a reference leads to, by the reference's number; nil if it was not met lately.
    @inline(__always)
    func recentEntry(by reference: UInt32) -> Int? {
        let known = references[Int(reference) & (Self.slotCount - 1)]
        return known.object == reference ? Int(known.entry) : nil
    }

    /// The entry of a key; nil if it is too long, or new and the table is full.
    /// - Parameter reference: the reference that led to it.
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
        places.append((UInt32(texts.count), UInt32(texts.count + text.count)))
        texts += text
        keys.append(utf8)
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

    /// Appends `"key":`, after a comma if it is not the first.
    @inline(__always)
    func append(_ entry: Int, isFirst: Bool, to output: inout TextBuffer) {
        let place = places[entry]
        output.append(room: Int(place.end - place.start) + 1) { writer in
            if !isFirst { writer.append(UInt8(ascii: ",")) }
            writer.append(copying: texts.span, from: place.start, to: place.end)
        }
    }
}
