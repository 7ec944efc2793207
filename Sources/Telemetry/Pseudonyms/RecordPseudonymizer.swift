/// Makes records that tell what happened, and of nobody to whom: ids become pseudonyms, and only what the tables of the
/// systems name stays.
///
/// ```swift
/// var pseudonymizer = RecordPseudonymizer(key, knowing: Systems.table)
/// let counts = try pseudonymizer.pseudonymize(&record)
/// ```
///
/// It is a function of the record and the key: equal records stay equal. A record that has pseudonyms of the same key stays as
/// it is, for what has the form of a pseudonym is left alone in it; all rules hold for the rest of it all the same, for a
/// bundle can have been made by anybody.
///
/// Source: "Pseudonyms".
public struct RecordPseudonymizer: Sendable {
    /// The id of the key.
    public let keyID: String
    private let systems: SystemTable
    private var writer: PseudonymWriter

    /// Prepares for records.
    public init(_ key: PseudonymKey, knowing systems: SystemTable) {
        keyID = key.id
        self.systems = systems
        writer = PseudonymWriter(PseudonymMaker(key))
    }

    /// Makes the pseudonyms of a record.
    /// - Returns: what was left out of its payload.
    /// - Throws: ``PseudonymError/otherKey(_:given:)`` for a record with pseudonyms of another key: they would become pseudonyms
    ///   of pseudonyms, which compare with nothing.
    public mutating func pseudonymize(_ record: inout Record) throws(PseudonymError) -> PseudonymCounts {
        guard let system = systems[record.system] else {
            throw .unknownSystem(record.system.description)
        }
        let isMarked = record.held.contains(.pseudonymized)
        guard !isMarked || record.pseudonymKeyID == keyID else {
            throw .otherKey(record.pseudonymKeyID, given: keyID)
        }
        let table = system.pseudonyms?.table(ofType: record.type)
        writer.maker.leavesPseudonyms = isMarked
        writer.counts = PseudonymCounts()
        record.payload = writer.rewritten(record.payload, by: table ?? [:])
        replaceIDs(of: &record, system)
        record.notes = [Record.pseudonymNote(keyID)] + record.notes.compactMap(PseudonymNotes.code)
        record.held = record.held.filter { $0 != .pseudonymized }.map(\.withoutWords) + [.pseudonymized]
        return writer.counts
    }

    private mutating func replaceIDs(of record: inout Record, _ system: any TelemetrySystem) {
        record.target = target(of: record, system)
        record.app = record.app?.shown { writer.maker.pseudonym(of: $0, $1) }
        record.id = writer.maker.pseudonym(of: record.id, .document)
        record.client = record.client.map { writer.maker.pseudonym(of: $0, .client) }
        record.source.capture = writer.maker.pseudonym(of: record.source.capture, .capture)
        record.source.path = writer.maker.pseudonym(of: record.source.path, .path)
        if !KeptForm.word.matches(record.type.utf8.span) {
            record.type = writer.maker.pseudonym(of: record.type, .type)
        }
    }

    /// The target with pseudonyms, and without header fields, which those who test an app may name as they like.
    private mutating func target(of record: borrowing Record, _ system: any TelemetrySystem) -> Target? {
        guard let format = system.pseudonyms, let target = record.target else { return nil }
        guard let rule = format.path else {
            return system.uploads.isTargetPath(target.path) ? Target(path: target.path, method: target.method) : nil
        }
        let path = rule(target) { writer.maker.pseudonym(of: $0, $1) }
        return path.map { Target(path: $0, method: target.method) }
    }
}

extension Record {
    private static let pseudonymWord = "pseudonymized "

    /// The note that a record has pseudonyms of a key.
    static func pseudonymNote(_ keyID: String) -> String { pseudonymWord + keyID }

    /// The id of the key that its pseudonyms were made with; nil if it is not noted that it has any.
    public var pseudonymKeyID: String? {
        notes.first { $0.hasPrefix(Self.pseudonymWord) }.map { String($0.dropFirst(Self.pseudonymWord.utf8.count)) }
    }
}

extension Hold {
    /// The reason without words in which pieces of input may be; a number, such as the status of an answer, stays.
    fileprivate var withoutWords: Hold {
        let isNumber = detail?.utf8.allSatisfy { (0x30...0x39).contains($0) } ?? false
        return Hold(PseudonymNotes.code(of: code) ?? Self.plain(code), isNumber ? detail : nil)
    }

    /// A code of one word, as systems have them; anything else was made up.
    private static func plain(_ code: String) -> String {
        code.utf8.count <= 20 && code.utf8.allSatisfy { (0x61...0x7A).contains($0) } ? code : "other"
    }
}
