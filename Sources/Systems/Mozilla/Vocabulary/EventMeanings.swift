/// The documented meaning of an event of a Mozilla app.
struct EventMeaning: Sendable {
    let category: String
    let method: String
    let object: String
    /// The value that the event must have, or `nil` if the meaning applies to all values.
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

/// The meanings of the events of a Mozilla app, by category, method, object and value.
///
/// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", sections 7.1, 7.2 and 7.4.
struct EventMeanings: Sendable {
    /// A row of the table, with either the complete words of an event or the words as old SDKs truncated them.
    ///
    /// The words are ranges of ``EventMeanings/wordBytes``, because copying strings for each event would be slower.
    private struct Entry: Sendable {
        let category: Range<Int>
        let method: Range<Int>
        let object: Range<Int>
        let value: Range<Int>?
        let meaningIndex: Int
    }

    /// A slot of the hash table.
    private struct Slot: Sendable {
        /// The hash of category, method and object.
        var hash: UInt64 = 0
        /// The index of the entry, or `nil` if the slot is empty.
        var entryIndex: Int?
    }

    private let meanings: [String]
    private let wordBytes: [UInt8]
    private let entries: [Entry]
    /// The hash table, which uses open addressing.
    private let slots: [Slot]

    /// The length, in characters, to which SDK versions before 1.0.12 truncated method and object.
    private static let truncatedWordLength = 20

    init(_ rows: [EventMeaning]) {
        var wordBytes: [UInt8] = []
        func range(of word: String) -> Range<Int> {
            wordBytes += word.utf8
            return wordBytes.count - word.utf8.count..<wordBytes.count
        }
        let entries = rows.enumerated().flatMap { index, row in
            [(row.method, row.object), (Self.truncated(row.method), Self.truncated(row.object))].map { method, object in
                Entry(
                    category: range(of: row.category), method: range(of: method), object: range(of: object),
                    value: row.value.map { range(of: $0) }, meaningIndex: index)
            }
        }
        let text = wordBytes.span
        // At most a quarter of the slots are in use, so that searches are short.
        var count = 64
        while count < 4 * entries.count { count *= 2 }
        var slots = [Slot](repeating: Slot(), count: count)
        for (number, entry) in entries.enumerated() {
            let hash = Self.hash(
                text.extracting(entry.category), text.extracting(entry.method), text.extracting(entry.object))
            var slot = Int(truncatingIfNeeded: hash) & (count - 1)
            while slots[slot].entryIndex != nil { slot = (slot + 1) & (count - 1) }
            slots[slot] = Slot(hash: hash, entryIndex: number)
        }
        meanings = rows.map(\.meaning)
        self.wordBytes = wordBytes
        self.entries = entries
        self.slots = slots
    }

    /// Returns the meaning of an event, or `nil` if the table does not contain the event.
    ///
    /// A row with the value of the event takes precedence over a row without a value.
    func meaning(
        category: Span<UInt8>, method: Span<UInt8>, object: Span<UInt8>, value: Span<UInt8>?
    ) -> String? {
        let hash = Self.hash(category, method, object)
        var slot = Int(truncatingIfNeeded: hash) & (slots.count - 1)
        let wordBytes = wordBytes.span
        var generalIndex: Int?
        while let index = slots[slot].entryIndex {
            defer { slot = (slot + 1) & (slots.count - 1) }
            guard slots[slot].hash == hash else { continue }
            let entry = entries[index]
            guard wordBytes.extracting(entry.method).equals(method), wordBytes.extracting(entry.object).equals(object),
                wordBytes.extracting(entry.category).equals(category)
            else { continue }
            guard let requiredValue = entry.value else {
                generalIndex = generalIndex ?? entry.meaningIndex
                continue
            }
            if let value, wordBytes.extracting(requiredValue).equals(value) { return meanings[entry.meaningIndex] }
        }
        return generalIndex.map { meanings[$0] }
    }

    private static func hash(_ category: Span<UInt8>, _ method: Span<UInt8>, _ object: Span<UInt8>) -> UInt64 {
        var hash = UInt64(category.count) &* 31 &+ category.prefixAsNumber
        hash = mixed(mixed(hash, UInt64(method.count)), UInt64(object.count))
        hash = mixed(mixed(hash, method.prefixAsNumber), object.prefixAsNumber)
        // The suffixes are included, because many words have the same prefix.
        hash = mixed(mixed(hash, method.suffixAsNumber), object.suffixAsNumber)
        return hash
    }

    private static func mixed(_ hash: UInt64, _ word: UInt64) -> UInt64 {
        let mixed = (hash ^ word) &* 0x9E37_79B9_7F4A_7C15
        return mixed ^ mixed >> 32
    }

    private static func truncated(_ word: String) -> String { String(word.prefix(truncatedWordLength)) }
}

extension Span<UInt8> {
    /// The last eight bytes as a number, with zeros for missing bytes.
    fileprivate var suffixAsNumber: UInt64 { extracting(Swift.max(0, count - 8)...).prefixAsNumber }
}
