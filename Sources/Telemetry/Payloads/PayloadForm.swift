import JSONText

/// The form of a value in a payload.
public indirect enum PayloadForm: Sendable {
    /// Any value.
    case any
    /// `true` or `false`.
    case boolean
    /// An integer, written without a point and an exponent.
    case integer(atLeast: Int? = nil)
    /// An integer in a range.
    case version(ClosedRange<Int>)
    /// A number of the given form.
    case number(NumberForm)
    /// A string of the given form.
    case string(StringForm = .any)
    /// An array whose elements have the given form.
    case list(PayloadForm)
    /// An object or an array.
    case structure
    /// An object with the given fields, whose other keys are noted because documented forms grow.
    case object(PayloadFields)
    /// An object with the given fields, whose other keys are expected and not noted.
    case open(PayloadFields)
    /// An object with any number of members, whose keys and values have the given forms.
    case map(KeyForm, PayloadForm)
    /// `null`, or a value of the given form.
    case orNull(PayloadForm)

    /// Returns the form of an object with any keys and with values of the given form.
    public static func map(_ values: PayloadForm) -> PayloadForm { .map(.any, values) }

    /// Whether `null` has this form.
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

    /// Creates a form with a name for faults, without an article, and a test of the JSON text of a number.
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
    /// A string of a form with the given name, which appears in faults.
    case named(String, @Sendable (Span<UInt8>) -> Bool)
}

/// The form of the keys of an object with any number of members.
public struct KeyForm: Sendable {
    let subject: String
    let matches: @Sendable (Span<UInt8>) -> Bool

    /// Creates a form with a noun for faults, such as `a label`, and a test of keys.
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
