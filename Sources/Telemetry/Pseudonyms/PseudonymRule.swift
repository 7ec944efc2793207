import Bytes
import JSONText

/// The rules for replacing ids in the payloads of a system by pseudonyms.
///
/// Source: "Pseudonyms".
public struct PseudonymFormat: Sendable {
    /// The rules for payloads, by record type.
    ///
    /// If there is only one table, it applies to all types.
    public let tables: [(types: [String], table: PseudonymTable)]

    /// Creates the rules of a system.
    public init(_ tables: [(types: [String], table: PseudonymTable)]) { self.tables = tables }

    /// Returns the rules for payloads of a record type, or `nil` if payloads of this type are not documented.
    public func table(ofType type: String) -> PseudonymTable? {
        tables.count == 1 ? tables[0].table : tables.first { $0.types.contains(type) }?.table
    }
}

/// A rule that keeps, replaces or omits a value of a payload.
///
/// The value `null` is kept unless the rule is `drop`. Rules are data so that they can be listed in the documentation
/// and compared with the format documents.
///
/// Source: "Pseudonyms".
public indirect enum PseudonymRule: Sendable {
    /// Keeps a value of the given form, and replaces any other value by the substitute.
    case keep(KeptForm, else: Substitute = .nothing)
    /// Keeps or rounds a time of the given form, and replaces any other value by the substitute.
    case time(TimeForm, else: Substitute = .nothing)
    /// Replaces a string by a pseudonym of the class, and omits any other value.
    case pseudonym(PseudonymClass)
    /// Omits the value.
    case drop
    /// Applies the rules of the table to the members of an object, and omits all other members.
    case object(PseudonymTable)
    /// Applies a rule to each element of an array.
    case list(PseudonymRule)
    /// Applies a separate rule to each position of an array.
    ///
    /// An omitted element is replaced by `null`. At the end of the array, omitted elements are removed.
    case tuple([PseudonymRule])
    /// Applies a rule to members whose keys match the key rule, and omits all other members.
    case map(KeyRule, PseudonymRule)
    /// Applies a rule to the JSON that a string contains.
    case json(PseudonymRule)

    /// The replacement for a value that does not have the required form.
    public enum Substitute: Sendable {
        /// No replacement, so that the value is omitted.
        case nothing
        /// A string that is documented to mean an unknown value, for required fields.
        case text(String)
        /// A pseudonym, so that equal values can still be recognized as equal.
        case pseudonym(PseudonymClass)
    }

    /// The rule for the keys of an object with any number of members.
    public enum KeyRule: Sendable {
        /// Keeps keys of the given form.
        case form(KeptForm)
        /// Keeps keys that consist of one of `words`, a dot and a name.
        ///
        /// A name that is not in `known` is replaced by a pseudonym.
        case dottedKey(_ words: Set<CapturedText>, known: Set<CapturedText>, PseudonymClass)
    }
}

/// The rules for the members of an object, by key.
///
/// Members without a rule are omitted and counted.
///
/// ```swift
/// let rules: PseudonymTable = ["clientId": .pseudonym(.client), "seq": .keep(.number)]
/// ```
public struct PseudonymTable: Sendable, ExpressibleByDictionaryLiteral {
    /// The key of a member, and the rule for the value of the member.
    public struct Field: Sendable {
        /// The key of the member.
        public let key: JSONKey
        /// The rule for the value of the member.
        public let rule: PseudonymRule
    }

    /// The keys with their rules, in the canonical order of the keys.
    public let fields: [Field]

    /// Creates a table from a dictionary literal.
    public init(dictionaryLiteral fields: (JSONKey, PseudonymRule)...) {
        self.init(fields.map { Field(key: $0.0, rule: $0.1) })
    }

    /// Creates a table with the same rule for all keys.
    public init(_ keys: [String], _ rule: PseudonymRule) {
        self.init(keys.map { Field(key: JSONKey($0), rule: rule) })
    }

    init(_ fields: [Field]) { self.fields = fields.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) } }

    /// Returns the rules of both tables.
    ///
    /// The rules of `left` take precedence.
    public static func + (left: PseudonymTable, right: PseudonymTable) -> PseudonymTable {
        let known = Set(left.fields.map(\.key.utf8))
        return PseudonymTable(left.fields + right.fields.filter { !known.contains($0.key.utf8) })
    }
}
