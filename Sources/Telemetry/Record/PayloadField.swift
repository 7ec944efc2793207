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

    /// Declares an optional field whose values are strings.
    public static func string(_ key: JSONKey, _ pseudonym: PseudonymRule, _ meaning: String) -> PayloadField {
        .optional(key, .string(), pseudonym, meaning)
    }

    /// Declares an optional field whose values are integers, which are kept if ids are replaced by pseudonyms.
    public static func integer(_ key: JSONKey, _ meaning: String) -> PayloadField {
        .optional(key, .integer(), .keep(.number), meaning)
    }

    /// Declares an optional field whose values are `true` or `false`.
    public static func flag(_ key: JSONKey, _ meaning: String) -> PayloadField {
        .optional(key, .boolean, .keep(.boolean), meaning)
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
        sorted = fields.sorted { $0.key < $1.key }
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

/// A constraint on a value in a payload, such as its type.
public enum PayloadForm: Sendable {
    /// Any value.
    case any
    /// `true` or `false`.
    case boolean
    /// An integer without a decimal point or an exponent. It has no minimum if `atLeast` is `nil`.
    case integer(atLeast: Int? = nil)
    /// An integer in the given range.
    case version(ClosedRange<Int>)
    /// A number of the given form.
    case number(NumberForm)
    /// A string of the given form.
    case string(StringForm = .any)
    /// An array whose elements have the given form.
    indirect case list(PayloadForm)
    /// An object or an array.
    case structure
    /// An object with the given fields. Other keys are accepted and counted as unknown.
    case object(PayloadFields)
    /// An object with the given fields. Other keys are accepted and not counted.
    case open(PayloadFields)
    /// An object with any number of members. Its keys and values have the given forms.
    indirect case map(KeyForm, PayloadForm)
    /// `null`, or a value of the given form.
    indirect case orNull(PayloadForm)

    /// Returns the form of an object with arbitrary keys and with values of the form `values`.
    public static func map(_ values: PayloadForm) -> PayloadForm { .map(.any, values) }

    /// Whether this form permits `null`.
    public var isNullable: Bool {
        switch self {
        case .any, .orNull: true
        case .boolean, .integer, .version, .number, .string, .list, .structure, .object, .open, .map: false
        }
    }
}

/// The form of a number in a payload.
public struct NumberForm: Sendable {
    let name: String
    let matches: @Sendable (Span<UInt8>) -> Bool

    /// Creates the form of the numbers for which `matches` returns `true`.
    ///
    /// Faults contain `name`, such as `number from 0 to 1`. `matches` tests the JSON text of a number.
    public init(_ name: String, _ matches: @escaping @Sendable (Span<UInt8>) -> Bool) {
        self.name = name
        self.matches = matches
    }

    /// Any number.
    public static let any = NumberForm("number") { _ in true }

    /// A number from 0 to 1.
    public static let share = NumberForm("number from 0 to 1") { text in
        Double(String(readingUTF8: text)).map { (0...1).contains($0) } ?? false
    }
}

/// The form of a string in a payload.
public enum StringForm: Sendable {
    /// Any string.
    case any
    /// A UUID of 8-4-4-4-12 hexadecimal digits in either case.
    case uuid
    /// A string with at most the given number of characters.
    case atMost(Int)
    /// A string that passes the given test. Faults contain the name of the form.
    case named(String, @Sendable (Span<UInt8>) -> Bool)
}

/// A constraint on the keys of an object.
public struct KeyForm: Sendable {
    let subject: String
    let matches: @Sendable (Span<UInt8>) -> Bool

    /// Creates a constraint on keys.
    ///
    /// Faults contain `subject`, such as `a label`. `matches` tests a key.
    public init(_ subject: String, _ matches: @escaping @Sendable (Span<UInt8>) -> Bool) {
        self.subject = subject
        self.matches = matches
    }

    /// Any key.
    public static let any = KeyForm("anything") { _ in true }

    /// Returns the form of keys with at most `count` characters.
    public static func atMost(_ count: Int, _ subject: String) -> KeyForm {
        KeyForm(subject) { $0.hasCharacters(atMost: count) }
    }
}
