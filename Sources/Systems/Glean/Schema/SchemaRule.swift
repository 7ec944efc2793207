import JSONText

/// The form that a value must have.
indirect enum SchemaRule: Sendable {
    /// Anything.
    case free
    /// True or false.
    case boolean
    /// A number written without point and exponent, not below a bound.
    case integer(atLeast: Int?)
    /// A number from 0 to 1.
    case share
    /// A string with at most so many characters; nil for any number.
    case string(atMost: Int?)
    /// A string that passes a test, which is named for messages.
    case text(String, @Sendable (Span<UInt8>) -> Bool)
    /// An array of such values.
    case list(SchemaRule)
    /// An object or an array, with anything inside.
    case structure
    /// An object with known keys; others are noted, for the schema grows.
    case object(SchemaKeys)
    /// An object with known keys, and others that are nobody's business.
    case open(SchemaKeys)
    /// An object with keys of a form, all of whose values have one form.
    case map(keys: String, @Sendable (Span<UInt8>) -> Bool, SchemaRule)
    /// Null, or something else.
    case orNull(SchemaRule)

    /// Any integer.
    static let anyInteger = SchemaRule.integer(atLeast: nil)
    /// Any string.
    static let anyString = SchemaRule.string(atMost: nil)
}

/// The keys of an object in canonical order.
struct SchemaKeys: Sendable, ExpressibleByArrayLiteral {
    let sorted: [SchemaKey]

    init(arrayLiteral keys: SchemaKey...) {
        self.init(keys)
    }

    init(_ keys: [SchemaKey]) {
        sorted = keys.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    }
}

/// A key of an object, and what its value must be.
struct SchemaKey: Sendable {
    let key: JSONKey
    let isRequired: Bool
    let rule: SchemaRule

    /// A key that has to be there.
    static func needed(_ key: JSONKey, _ rule: SchemaRule) -> SchemaKey {
        SchemaKey(key: key, isRequired: true, rule: rule)
    }

    /// A key that may be missing.
    static func optional(_ key: JSONKey, _ rule: SchemaRule) -> SchemaKey {
        SchemaKey(key: key, isRequired: false, rule: rule)
    }
}
