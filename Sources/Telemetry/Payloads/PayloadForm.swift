import JSONText

/// A constraint on a value in a payload, such as its type.
public indirect enum PayloadForm: Sendable {
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
    case list(PayloadForm)
    /// An object or an array.
    case structure
    /// An object with the given fields. Other keys are accepted and counted as unknown.
    case object(PayloadFields)
    /// An object with the given fields. Other keys are accepted and not counted.
    case open(PayloadFields)
    /// An object with any number of members. Its keys and values have the given forms.
    case map(KeyForm, PayloadForm)
    /// `null`, or a value of the given form.
    case orNull(PayloadForm)

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
