import JSONText

/// What becomes of a value when pseudonyms are made. What is null stays null, unless it is dropped.
///
/// Rules are data, so that they can be listed in an article and compared with the documents of the formats.
///
/// Source: "Pseudonyms".
public indirect enum PseudonymRule: Sendable {
    /// It stays, if it has the form; else something takes its place, or nothing.
    case keep(KeptForm, else: Substitute = .nothing)
    /// A text becomes a pseudonym of a class; any other value is left out.
    case pseudonym(PseudonymClass)
    /// It is left out.
    case drop
    /// The members of an object that the table names go by their own rules; all others are left out.
    case object(PseudonymTable)
    /// Each element of an array goes by one rule.
    case list(PseudonymRule)
    /// The elements of an array go by a rule for each place. What is left out leaves null in its place, or nothing at the end.
    case tuple([PseudonymRule])
    /// The members of an object with keys of a form go by one rule; all others are left out.
    case map(KeyRule, PseudonymRule)
    /// A text that holds JSON, which goes by a rule.
    case json(PseudonymRule)

    /// What takes the place of a value that has not the form to be kept.
    public enum Substitute: Sendable {
        /// Nothing: the value is left out.
        case nothing
        /// A text that the format documents for a value that is not known: required fields have one.
        case text(String)
        /// A pseudonym, which tells equal values from others.
        case pseudonym(PseudonymClass)
    }

    /// Which keys of an object with any number of them stay.
    public enum KeyRule: Sendable {
        /// Those that have a form.
        case form(KeptForm)
        /// Those that begin with one of these words and a point. What stands behind it stays if it is one of the known names,
        /// and becomes a pseudonym of a class otherwise.
        case afterPoint(_ words: Set<String>, known: Set<String>, PseudonymClass)
    }
}

/// The rules of the members of an object, by their keys. What is not named is left out and counted.
///
/// ```swift
/// let rules: PseudonymTable = ["clientId": .pseudonym(.client), "seq": .keep(.number)]
/// ```
public struct PseudonymTable: Sendable, ExpressibleByDictionaryLiteral {
    /// A key and its rule.
    public struct Field: Sendable {
        /// The key.
        public let key: JSONKey
        /// What becomes of its value.
        public let rule: PseudonymRule
    }

    /// The fields in canonical order.
    public let fields: [Field]

    /// Makes a table of rules.
    public init(dictionaryLiteral fields: (JSONKey, PseudonymRule)...) {
        self.init(fields.map { Field(key: $0.0, rule: $0.1) })
    }

    /// Gives the same rule to several keys.
    public init(_ keys: [String], _ rule: PseudonymRule) {
        self.init(keys.map { Field(key: JSONKey($0), rule: rule) })
    }

    init(_ fields: [Field]) {
        self.fields = fields.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    }

    /// The rules of two tables; of two for one key, that of the first counts.
    public static func + (left: PseudonymTable, right: PseudonymTable) -> PseudonymTable {
        let known = Set(left.fields.map(\.key.utf8))
        return PseudonymTable(left.fields + right.fields.filter { !known.contains($0.key.utf8) })
    }
}
