import Bytes

/// A type that replaces the ids in records by pseudonyms, and removes all values that the rules do not permit.
///
/// ```swift
/// var pseudonymizer = RecordPseudonymizer(key, knowing: Systems.table)
/// let counts = try pseudonymizer.pseudonymize(&record)
/// ```
///
/// If a unit of time is given, all times are rounded down to it, so that records cannot be recognized by their times.
///
/// Equal records stay equal, because the result depends only on the record and the key. If a record already has
/// pseudonyms of the same key, they are kept. All other rules still apply, because a bundle can be forged.
///
/// Source: "Pseudonyms".
public struct RecordPseudonymizer: Sendable {
    /// The public id of the key from which pseudonyms are made.
    public let keyID: String
    /// The unit to which times are rounded down, or `nil` if they are kept.
    public let timeUnit: TimeUnit?
    private let systems: SystemTable
    private let holdCodes: Set<CapturedText>
    private var writer: PseudonymWriter

    /// Creates a pseudonymizer with a key and the rules of the given systems.
    ///
    /// Times are kept if `timeUnit` is `nil`.
    public init(_ key: PseudonymKey, knowing systems: SystemTable, timeUnit: TimeUnit? = nil) {
        keyID = key.id
        self.timeUnit = timeUnit
        self.systems = systems
        holdCodes = Set(systems.holdCodes.map { CapturedText($0.code) })
        writer = PseudonymWriter(PseudonymMaker(key), timeUnit: timeUnit)
    }

    /// Replaces the ids in `record` by pseudonyms, and returns the counts of the omitted values.
    public mutating func pseudonymize(_ record: inout Record) throws(PseudonymError) -> PseudonymCounts {
        guard let system = systems[record.system] else { throw .unknownSystem(record.system.description) }
        let isMarked = record.held.contains(.pseudonymized)
        // Pseudonyms that were made from other pseudonyms could not be compared with other pseudonyms.
        guard !isMarked || record.pseudonymKeyID == keyID else { throw .otherKey(record.pseudonymKeyID, given: keyID) }
        let table = system.pseudonyms?.table(ofType: record.type)
        writer.maker.keepsPseudonyms = isMarked
        writer.counts = PseudonymCounts()
        record.payload = writer.rewritten(record.payload, by: table ?? [:])
        replaceIDs(of: &record, system)
        if let timeUnit { record.time = record.time?.roundedDown(to: timeUnit) }
        // The times in a record that already has pseudonyms may have been rounded to a larger unit before.
        let units = [timeUnit, isMarked ? record.timeUnit : nil].compactMap(\.self)
        record.notes =
            [Record.pseudonymNote(keyID)] + (units.max().map { [Record.note(of: $0)] } ?? [])
            + record.notes.filter { !Record.isTimeUnitNote($0) }.compactMap(PseudonymNotes.code)
        record.held = record.held.filter { $0 != .pseudonymized }.map(withoutDetails) + [.pseudonymized]
        return writer.counts
    }

    /// Returns `hold` without the details that could contain captured data.
    ///
    /// A detail of at most six digits, such as an HTTP status, is kept. An undocumented code is replaced by `other`.
    private func withoutDetails(_ hold: Hold) -> Hold {
        let isNumber = hold.detail.map { $0.utf8.count <= 6 && $0.utf8.allSatisfy(\.isDigit) } ?? false
        return Hold(holdCodes.contains(hold.code) ? hold.code : "other", isNumber ? hold.detail : nil)
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

    /// Returns the target of a record with its ids replaced by pseudonyms.
    ///
    /// Returns `nil` if the record has no target, or if the system has no pseudonym rules or does not accept the path.
    ///
    /// Header fields are omitted, because testers of an app can choose any value for them.
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
    private static let pseudonymNotePrefix = "pseudonymized "

    /// Returns the note that identifies the pseudonym key.
    static func pseudonymNote(_ keyID: String) -> String { pseudonymNotePrefix + keyID }

    /// The ID of the pseudonym key in the notes, or `nil` if the record has no pseudonyms.
    public var pseudonymKeyID: String? {
        notes.first { $0.hasPrefix(Self.pseudonymNotePrefix) }.map {
            String($0.dropFirst(Self.pseudonymNotePrefix.utf8.count))
        }
    }

    private static let timeUnitNotePrefix = "times-coarsened"

    /// Returns the note that states the unit to which times are rounded down.
    static func note(of unit: TimeUnit) -> String { "\(timeUnitNotePrefix) \(unit.rawValue)" }

    /// Returns whether a note states a unit to which times are rounded down.
    static func isTimeUnitNote(_ note: String) -> Bool { isTimeUnitNote(note.utf8.span) }

    /// Returns whether the UTF-8 bytes of a note state a unit to which times are rounded down.
    package static func isTimeUnitNote(_ note: Span<UInt8>) -> Bool {
        note.extracting(first: timeUnitNotePrefix.utf8.count).equals(timeUnitNotePrefix)
    }

    /// The unit to which the times in the record are rounded down, or `nil` if it is unknown.
    public var timeUnit: TimeUnit? {
        TimeUnit.allCases.last { notes.contains(Self.note(of: $0)) }
    }
}
