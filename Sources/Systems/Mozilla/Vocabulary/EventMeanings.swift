/// The meaning of an event of a Mozilla app: a row of a documented table.
struct EventMeaning: Sendable {
    let category: String
    let method: String
    let object: String
    /// The value that tells this event from others of the same words; nil where any will do.
    let value: String?
    let meaning: String

    init(_ method: String, _ object: String, _ value: String? = nil, category: String = "action", means meaning: String)
    {
        self.category = category
        self.method = method
        self.object = object
        self.value = value
        self.meaning = meaning
    }
}

/// The events of a Mozilla app, looked up by their words as stored.
///
/// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", sections 7.1, 7.2 and 7.4.
struct EventMeanings: Sendable {
    /// A row of the table, or a row with words as old SDKs cut them. It says where in the text of all words its own stand: it is
    /// copied for each event, and each reference in it would be counted.
    private struct Entry: Sendable {
        let category: Range<Int>
        let method: Range<Int>
        let object: Range<Int>
        let value: Range<Int>?
        let row: Int
    }

    /// A place in the table: the hash of category, method and object, and the index of the entry that has it.
    private struct Slot: Sendable {
        var hash: UInt64 = 0
        var entry: Int?
    }

    private let meanings: [String]
    private let words: [UInt8]
    private let entries: [Entry]
    /// A free place ends a search. Events come by the million, so no text is made of their words.
    private let slots: [Slot]

    /// SDKs before v1.0.12 cut the method and the object of an event to this many characters. No two rows of the tables become
    /// equal by that: where the objects do, the methods differ.
    private static let cutLength = 20

    init(_ rows: [EventMeaning]) {
        var words: [UInt8] = []
        func place(of word: String) -> Range<Int> {
            words += word.utf8
            return words.count - word.utf8.count..<words.count
        }
        let entries = rows.enumerated().flatMap { number, row in
            [(row.method, row.object), (Self.cut(row.method), Self.cut(row.object))].map { method, object in
                Entry(
                    category: place(of: row.category), method: place(of: method), object: place(of: object),
                    value: row.value.map { place(of: $0) }, row: number)
            }
        }
        let text = words.span
        // At most a quarter is in use.
        var count = 64
        while count < 4 * entries.count { count *= 2 }
        var slots = [Slot](repeating: Slot(), count: count)
        for (number, entry) in entries.enumerated() {
            let hash = Self.hash(
                text.extracting(entry.category), text.extracting(entry.method), text.extracting(entry.object))
            var place = Int(truncatingIfNeeded: hash) & (count - 1)
            while slots[place].entry != nil { place = (place + 1) & (count - 1) }
            slots[place] = Slot(hash: hash, entry: number)
        }
        meanings = rows.map(\.meaning)
        self.words = words
        self.entries = entries
        self.slots = slots
    }

    /// The meaning of an event; nil if the table does not have it. Of two rows with the same words the first one counts.
    /// - Parameter value: what the event has as its value, where that is a text.
    func meaning(
        category: Span<UInt8>, method: Span<UInt8>, object: Span<UInt8>, value: Span<UInt8>?
    ) -> String? {
        let hash = Self.hash(category, method, object)
        var place = Int(truncatingIfNeeded: hash) & (slots.count - 1)
        let words = words.span
        var general: Int?
        while let index = slots[place].entry {
            defer { place = (place + 1) & (slots.count - 1) }
            guard slots[place].hash == hash else { continue }
            let entry = entries[index]
            guard words.extracting(entry.method).equals(method), words.extracting(entry.object).equals(object),
                words.extracting(entry.category).equals(category)
            else { continue }
            guard let own = entry.value else {
                general = general ?? entry.row
                continue
            }
            if let value, words.extracting(own).equals(value) { return meanings[entry.row] }
        }
        return general.map { meanings[$0] }
    }

    private static func hash(_ category: Span<UInt8>, _ method: Span<UInt8>, _ object: Span<UInt8>) -> UInt64 {
        var hash = UInt64(category.count) &* 31 &+ category.prefixAsNumber
        hash = mixed(mixed(hash, UInt64(method.count)), UInt64(object.count))
        hash = mixed(mixed(hash, method.prefixAsNumber), object.prefixAsNumber)
        // Words differ at their ends where their beginnings are equal.
        hash = mixed(mixed(hash, method.suffixAsNumber), object.suffixAsNumber)
        return hash
    }

    private static func mixed(_ hash: UInt64, _ word: UInt64) -> UInt64 {
        let mixed = (hash ^ word) &* 0x9E37_79B9_7F4A_7C15
        return mixed ^ mixed >> 32
    }

    private static func cut(_ word: String) -> String { String(word.prefix(cutLength)) }
}

extension Span<UInt8> {
    /// The last eight bytes as a number, missing ones as zero.
    fileprivate var suffixAsNumber: UInt64 { extracting(Swift.max(0, count - 8)...).prefixAsNumber }
}
