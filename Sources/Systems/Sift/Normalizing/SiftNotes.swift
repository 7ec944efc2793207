/// The notes about changed and omitted values, with the number and the first location of each kind of change.
struct SiftNotes {
    /// The change or omission that a note reports.
    enum Subject: Hashable {
        /// A number that JSON cannot express was removed.
        case notFinite
        /// A value of a class without a JSON form was removed.
        case unknownClass
        /// A dictionary entry whose key is not a string was removed.
        case nonStringKey
        /// A dictionary entry with the same key as an earlier entry was removed.
        case duplicateKey
        /// A class of an earlier SDK version was read.
        case legacyClass(String)
        /// An event was omitted for the reason `reason`.
        case lost(code: String, reason: String)
        /// An event of a queue was omitted because a batch also contains it.
        case absorbed
    }

    private var counts: [(subject: Subject, count: Int, location: String)] = []

    var isEmpty: Bool { counts.isEmpty }

    /// Adds `count` occurrences of a subject, and evaluates `location` only for the first one.
    mutating func add(_ subject: Subject, count: Int = 1, at location: @autoclosure () -> String) {
        if let known = counts.firstIndex(where: { $0.subject.isCountedTogether(with: subject) }) {
            counts[known].count += count
        } else {
            counts.append((subject, count, location()))
        }
    }

    /// Adds the notes about an event to these notes.
    mutating func add(_ other: SiftNotes) {
        for entry in other.counts { add(entry.subject, count: entry.count, at: entry.location) }
    }

    mutating func removeAll() { counts.removeAll(keepingCapacity: true) }

    /// The texts of the notes, which start with their codes.
    var texts: [String] {
        counts.map { subject, count, location in
            "\(subject.code) \(subject.words(count)) (\(count == 1 ? "" : "first: ")\(location))"
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

    /// Returns whether two subjects share one note because they are equal or are lost events with the same code.
    fileprivate func isCountedTogether(with other: SiftNotes.Subject) -> Bool {
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
