/// The meaning of an event of a Mozilla app: a row of a documented table.
struct EventMeaning: Sendable {
    let category: String
    let method: String
    let object: String
    /// The value that tells this event from others of the same words; nil where any will do.
    let value: String?
    /// What happened, in words.
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
    private struct Words: Hashable, Sendable {
        let category: String
        let method: String
        let object: String
        let value: String?
    }

    private let meanings: [Words: String]

    /// SDKs before v1.0.12 cut the method and the object of an event to this many characters. No two rows of the tables become
    /// equal by that: where the objects do, the methods differ.
    private static let cutLength = 20

    init(_ rows: [EventMeaning]) {
        var meanings: [Words: String] = [:]
        for row in rows {
            for (method, object) in [(row.method, row.object), (Self.cut(row.method), Self.cut(row.object))] {
                let words = Words(category: row.category, method: method, object: object, value: row.value)
                meanings[words] = meanings[words] ?? row.meaning
            }
        }
        self.meanings = meanings
    }

    /// The meaning of an event; nil if the table does not have it.
    func meaning(category: String, method: String, object: String, value: String?) -> String? {
        meanings[Words(category: category, method: method, object: object, value: value)]
            ?? meanings[Words(category: category, method: method, object: object, value: nil)]
    }

    private static func cut(_ word: String) -> String { String(word.prefix(cutLength)) }
}
