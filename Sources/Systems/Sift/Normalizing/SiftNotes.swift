/// The notes on what was changed or left out while requests were made: for each code how often, and the first place.
struct SiftNotes {
    enum Subject: Hashable {
        /// A number that JSON does not have was removed.
        case notFinite
        /// A value of a class without a JSON form was removed.
        case unknownClass
        /// A dictionary entry whose key is no text was removed.
        case nonStringKey
        /// A dictionary entry with the key of an earlier one was removed.
        case duplicateKey
        /// An event of a class of an earlier SDK was read.
        case legacyClass(String)
        /// An event was left out, with the code of why.
        case lost(code: String, reason: String)
        /// An event of a queue was left out because a batch has it too.
        case absorbed
    }

    private var counts: [(subject: Subject, count: Int, place: String)] = []

    var isEmpty: Bool { counts.isEmpty }

    /// Counts one more; `place` is asked for only the first time.
    mutating func add(_ subject: Subject, count: Int = 1, at place: @autoclosure () -> String) {
        if let known = counts.firstIndex(where: { $0.subject.isLike(subject) }) {
            counts[known].count += count
        } else {
            counts.append((subject, count, place()))
        }
    }

    /// Adds what was noted of an event.
    mutating func add(_ other: SiftNotes) {
        for entry in other.counts { add(entry.subject, count: entry.count, at: entry.place) }
    }

    mutating func removeAll() { counts.removeAll(keepingCapacity: true) }

    /// The notes as they stand in a record: code, space, words.
    var texts: [String] {
        counts.map { subject, count, place in
            "\(subject.code) \(subject.words(count)) (\(count == 1 ? "" : "first: ")\(place))"
        }
    }
}

extension SiftNotes.Subject {
    fileprivate var code: String {
        switch self {
        case .notFinite: "not-finite"
        case .unknownClass: "unknown-class"
        case .nonStringKey: "non-string-key"
        case .duplicateKey: "duplicate-key"
        case .legacyClass: "legacy-class"
        case .lost(let code, _): code
        case .absorbed: "absorbed"
        }
    }

    /// Events that are lost for one code are counted together, whatever the reasons are in words.
    fileprivate func isLike(_ other: SiftNotes.Subject) -> Bool {
        if case .lost(let code, _) = self, case .lost(let otherCode, _) = other { return code == otherCode }
        return self == other
    }

    fileprivate func words(_ count: Int) -> String {
        let events = count == 1 ? "1 event" : "\(count) events"
        let values = count == 1 ? "1 value" : "\(count) values"
        let entries = count == 1 ? "1 entry" : "\(count) entries"
        return switch self {
        case .notFinite: "\(values) removed"
        case .unknownClass: "\(values) without a JSON form removed"
        case .nonStringKey: "\(entries) removed whose key is no text"
        case .duplicateKey: "\(entries) removed whose key came before"
        case .legacyClass(let name): "\(name) in \(events)"
        case .lost(_, let reason): "\(events) left out: \(reason)"
        case .absorbed: "\(events) left out that a batch has too"
        }
    }
}
