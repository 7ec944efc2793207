import JSONText

/// A field of an object in a payload.
///
/// A field is declared once, in the table of its payload. The check of the payload, the pseudonyms, the columns of the
/// exported table and the data dictionary are derived from the declaration.
public struct PayloadField: Sendable {
    /// Whether a field must be present in an object.
    public enum Presence: Sendable {
        /// An object without the field does not have the documented form.
        case required
        /// The field can be missing.
        case optional
        /// The field is not documented, but some apps send it. Its values are not checked.
        case added
    }

    /// The key of the field.
    public let key: JSONKey
    /// Whether the field must be present in an object.
    public let presence: Presence
    /// The form of the values.
    public let form: PayloadForm
    /// The rule for replacing the values by pseudonyms.
    public let pseudonym: PseudonymRule
    /// The meaning of the values, as a phrase for the data dictionary.
    public let meaning: String

    private init(
        _ key: JSONKey, _ presence: Presence, _ form: PayloadForm, _ pseudonym: PseudonymRule, _ meaning: String
    ) {
        self.key = key
        self.presence = presence
        self.form = form
        self.pseudonym = pseudonym
        self.meaning = meaning
    }

    /// Declares a required field.
    public static func required(
        _ key: JSONKey, _ form: PayloadForm, _ pseudonym: PseudonymRule, _ meaning: String
    ) -> PayloadField {
        PayloadField(key, .required, form, pseudonym, meaning)
    }

    /// Declares an optional field.
    public static func optional(
        _ key: JSONKey, _ form: PayloadForm, _ pseudonym: PseudonymRule, _ meaning: String
    ) -> PayloadField {
        PayloadField(key, .optional, form, pseudonym, meaning)
    }

    /// Declares a field that is not documented, but that some apps send.
    public static func added(
        _ key: JSONKey, _ form: PayloadForm, _ pseudonym: PseudonymRule, _ meaning: String
    ) -> PayloadField {
        PayloadField(key, .added, form, pseudonym, meaning)
    }

    /// Declares an optional field whose values are objects.
    public static func optional(_ key: JSONKey, fields: PayloadFields, _ meaning: String) -> PayloadField {
        PayloadField(key, .optional, .object(fields), .object(fields.pseudonyms), meaning)
    }

    /// Declares a required field whose values are objects.
    public static func required(_ key: JSONKey, fields: PayloadFields, _ meaning: String) -> PayloadField {
        PayloadField(key, .required, .object(fields), .object(fields.pseudonyms), meaning)
    }

    /// Declares an optional field whose values are arrays of objects.
    public static func optional(_ key: JSONKey, listOf fields: PayloadFields, _ meaning: String) -> PayloadField {
        PayloadField(key, .optional, .list(.object(fields)), .list(.object(fields.pseudonyms)), meaning)
    }

    /// Returns a copy of the field with the given presence.
    public func with(_ presence: Presence) -> PayloadField { PayloadField(key, presence, form, pseudonym, meaning) }
}

/// The fields of an object in a payload.
///
/// ```swift
/// let fields: PayloadFields = [
///     .required("clientId", .string(.uuid), .pseudonym(.client), "the id of the client"),
///     .optional("tz", .integer(), .keep(.number), "the offset of the time zone in minutes"),
/// ]
/// ```
public struct PayloadFields: Sendable, ExpressibleByArrayLiteral {
    /// The fields in the canonical order of their keys.
    public let sorted: [PayloadField]

    /// Creates a table of fields from an array literal.
    public init(arrayLiteral fields: PayloadField...) { self.init(fields) }

    /// Creates a table of fields.
    public init(_ fields: [PayloadField]) {
        sorted = fields.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    }

    /// Returns a table with the fields of both tables.
    public static func + (left: PayloadFields, right: PayloadFields) -> PayloadFields {
        PayloadFields(left.sorted + right.sorted)
    }

    /// Returns the fields whose keys are in `keys`.
    public func only(_ keys: Set<JSONKey>) -> PayloadFields {
        PayloadFields(sorted.filter { keys.contains($0.key) })
    }

    /// The fields of the documented form, without the fields that apps add.
    public var documented: PayloadFields { PayloadFields(sorted.filter { $0.presence != .added }) }

    /// Returns a copy of the table in which the fields with the given keys are optional.
    public func optional(_ keys: Set<JSONKey>) -> PayloadFields {
        PayloadFields(sorted.map { keys.contains($0.key) ? $0.with(.optional) : $0 })
    }

    /// The rules for replacing the values of these fields by pseudonyms.
    public var pseudonyms: PseudonymTable {
        PseudonymTable(sorted.map { PseudonymTable.Field(key: $0.key, rule: $0.pseudonym) })
    }
}
