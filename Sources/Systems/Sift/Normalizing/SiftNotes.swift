import Bytes

/// The notes about changed and omitted values, with the number and the first location of each kind of change.
struct SiftNotes {
    /// The change or omission that a note reports.
    enum Subject: Hashable {
        /// A number that JSON cannot express was removed.
        case nonFiniteNumber
        /// A value of a class without a JSON form was removed.
        case unknownClass
        /// A dictionary entry whose key is not a string was removed.
        case nonStringKey
        /// A dictionary entry with the same key as an earlier entry was removed.
        case duplicateKey
        /// A class of an earlier SDK version was read.
        case legacyClass(CapturedText)
        /// An event was omitted for the reason `reason`.
        case lostEvent(code: CapturedText, reason: CapturedText)
        /// An event in a queue was omitted because a batch also contains it.
        case absorbedEvent
    }

    private var entries: [(subject: Subject, count: Int, location: String)] = []

    var isEmpty: Bool { entries.isEmpty }

    /// Adds `count` occurrences of a subject, and evaluates `location` only for the first one.
    mutating func add(_ subject: Subject, count: Int = 1, at location: @autoclosure () -> String) {
        if let known = entries.firstIndex(where: { $0.subject.isCountedTogether(with: subject) }) {
            entries[known].count += count
        } else {
            entries.append((subject, count, location()))
        }
    }

    /// Adds the notes about an event to these notes.
    mutating func add(_ other: SiftNotes) {
        for entry in other.entries { add(entry.subject, count: entry.count, at: entry.location) }
    }

    mutating func removeAll() { entries.removeAll(keepingCapacity: true) }

    /// The texts of the notes, which start with their codes.
    var texts: [String] {
        entries.map { subject, count, location in
            "\(subject.code) \(subject.description(forCount: count)) (\(count == 1 ? "" : "first: ")\(location))"
        }
    }
}

extension SiftNotes.Subject {
    fileprivate var code: String {
        switch self {
        case .nonFiniteNumber: "not-finite"
        case .unknownClass: "unknown-class"
        case .nonStringKey: "non-string-key"
        case .duplicateKey: "duplicate-key"
        case .legacyClass: "legacy-class"
        case .lostEvent(let code, _): code.string
        case .absorbedEvent: "absorbed"
        }
    }

    /// Returns whether two subjects share one note because they are equal or are lost events with the same code.
    fileprivate func isCountedTogether(with other: SiftNotes.Subject) -> Bool {
        if case .lostEvent(let code, _) = self, case .lostEvent(let otherCode, _) = other { return code == otherCode }
        return self == other
    }

    fileprivate func description(forCount count: Int) -> String {
        let events = count == 1 ? "1 event" : "\(count) events"
        let values = count == 1 ? "1 value" : "\(count) values"
        let entryText = count == 1 ? "1 entry" : "\(count) entries"
        return switch self {
        case .nonFiniteNumber: "\(values) removed"
        case .unknownClass: "\(values) without a JSON form removed"
        case .nonStringKey: "\(entryText) removed whose key is no text"
        case .duplicateKey: "\(entryText) removed whose key came before"
        case .legacyClass(let name): "\(name) in \(events)"
        case .lostEvent(_, let reason): "\(events) left out: \(reason)"
        case .absorbedEvent: "\(events) left out that a batch has too"
        }
    }
}
