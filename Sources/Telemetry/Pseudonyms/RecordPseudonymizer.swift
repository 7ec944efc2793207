import Bytes
import JSONText

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
    /// The systems whose rules apply.
    public let systems: SystemTable
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
        guard system.pseudonyms != nil, let target = record.target, system.uploads.isTargetPath(target.path) else {
            return nil
        }
        let path = system.uploads.path(of: target) { writer.maker.pseudonym(of: $0, $1) }
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

/// Counts of the values that pseudonymization removed from payloads, by reason.
public struct PseudonymCounts: Sendable, Equatable {
    /// The number of values that were removed because their rule is ``PseudonymRule/drop``.
    public var dropped = 0
    /// The number of values that were removed because they do not have the form required by their rule.
    public var malformed = 0
    /// The number of values that were removed because they have no rule.
    public var unnamed = 0

    /// Creates counts of zero.
    public init() {}

    /// Adds the counts of `other` to `counts`.
    public static func += (counts: inout PseudonymCounts, other: PseudonymCounts) {
        counts.dropped += other.dropped
        counts.malformed += other.malformed
        counts.unnamed += other.unnamed
    }

    /// The counts as canonical JSON.
    public var json: CanonicalObject {
        ["dropped": dropped, "malformed": malformed, "unnamed": unnamed]
    }
}

/// A property of an app, and the rule for replacing it by a pseudonym.
///
/// A value is kept only if it has the expected form, because apps can use any string.
///
/// Source: "Pseudonyms".
public enum AppProperty: Sendable {
    /// The bundle id or application id.
    case id
    /// The name of the app in the paths of uploads.
    case name
    /// The version or the build number.
    case version
    /// The release channel.
    case channel

    /// The string that represents an unknown value.
    public static let unknown = "unknown"

    /// Returns `value` if it has the expected form or is ``unknown``.
    ///
    /// Otherwise, the method returns a pseudonym for an id or a name, and `nil` for a version or a channel.
    public func shown(_ value: String, _ pseudonym: (_ value: String, PseudonymClass) -> String) -> String? {
        if value == Self.unknown || form.matches(value.utf8.span) { return value }
        return switch self {
        case .id, .name: pseudonym(value, .app)
        case .version, .channel: nil
        }
    }

    private var form: KeptForm {
        switch self {
        case .id: .word
        case .name: .name
        case .version: .version
        case .channel: .word
        }
    }
}

extension App {
    /// Returns the app with its properties replaced by pseudonyms.
    ///
    /// Returns `nil` if no property remains.
    func shown(_ pseudonym: (_ value: String, PseudonymClass) -> String) -> App? {
        func shown(_ value: String?, _ fact: AppProperty) -> String? { value.flatMap { fact.shown($0, pseudonym) } }
        return App(
            id: shown(id, .id), name: shown(name, .name), version: shown(version, .version),
            channel: shown(channel, .channel), build: shown(build, .version))
    }
}

/// Functions that reduce notes, rejects and problems to their codes.
///
/// The words after a code are removed because they can contain captured data.
package enum PseudonymNotes {
    /// The codes that consist of a single word.
    private static let words: Set<CapturedText> = [
        "PE", "absorbed", "changed", "corrupt", "damaged", "link", "special", "unproven", "unreadable",
    ]

    /// Returns the code at the beginning of a string, such as `C8`, `5.1`, `no-target` or `bad_nested_json:params@3`.
    ///
    /// A code is a case id of a format document, a known word, or several joined words. A number after joined words has
    /// at most six digits, because a longer number could be an id in a forged bundle. Returns `nil` if there is no
    /// code.
    package static func code(of text: String) -> String? {
        let code = text.utf8.prefix { $0 != UInt8(ascii: " ") }
        guard code.count <= maximumLength, let known = String(code) else { return nil }
        return words.contains(known) || isCaseID(Array(code)) || isJoinedWords(code) ? known : nil
    }

    private static let maximumLength = 60

    /// Returns whether the bytes are a case id, such as `P12`, `E.2` or `5.1`.
    private static func isCaseID(_ code: [UInt8]) -> Bool {
        guard (2...5).contains(code.count), code[0].isUppercaseLetter || code[0].isDigit else { return false }
        if code[1] == UInt8(ascii: ".") { return code.count <= 4 && code.count > 2 && code[2...].allSatisfy(\.isDigit) }
        let figures = code.drop(while: \.isUppercaseLetter)
        return (1...2).contains(code.count - figures.count) && (1...3).contains(figures.count)
            && figures.allSatisfy(\.isDigit)
    }

    /// Returns whether the code consists of joined words, such as `no-target`, `missing_action@3` or
    /// `credential_removed:clientKey@3`.
    private static func isJoinedWords(_ code: Substring.UTF8View) -> Bool {
        let parts = code.split(separator: UInt8(ascii: "@"), maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 1 || (1...6).contains(parts[1].count) && parts[1].allSatisfy(\.isDigit) else {
            return false
        }
        let halves = parts[0].split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
        guard halves.count == 1 || (1...24).contains(halves[1].count) && halves[1].allSatisfy(\.isLetter) else {
            return false
        }
        let words = halves[0].split(omittingEmptySubsequences: false) { $0.isOne(of: "-_") }
        return words.count > 1 && words.allSatisfy { !$0.isEmpty && $0.allSatisfy(\.isLowercaseLetter) }
    }
}
