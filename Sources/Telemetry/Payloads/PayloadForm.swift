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
    /// A number of the form.
    case number(NumberForm)
    /// A string of the form.
    case string(StringForm = .any)
    /// An array of values of the form.
    case list(PayloadForm)
    /// An object or an array.
    case structure
    /// An object with fields. Other keys are noted, because documented forms grow.
    case object(PayloadFields)
    /// An object with fields. Other keys are expected.
    case open(PayloadFields)
    /// An object with any keys of the form, whose values are of another form.
    case map(KeyForm, PayloadForm)
    /// `null`, or a value of the form.
    case orNull(PayloadForm)

    /// Returns the form of an object with any keys, whose values are of a form.
    public static func map(_ values: PayloadForm) -> PayloadForm { .map(.any, values) }

    /// Whether `null` is of this form.
    public var isNullable: Bool {
        switch self {
        case .any, .orNull: true
        case .boolean, .integer, .version, .number, .string, .list, .structure, .object, .open, .map: false
        }
    }
}

/// The form of a number in a payload.
public struct NumberForm: Sendable {
    /// The name of the form in faults.
    let name: String
    /// Whether the text of a number has the form.
    let matches: @Sendable (Span<UInt8>) -> Bool

    /// Declares a form.
    /// - Parameters:
    ///   - name: The name in faults, without an article.
    ///   - matches: Returns whether the text of a number has the form.
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
    /// 8-4-4-4-12 hexadecimal digits of either case.
    case uuid
    /// A string with at most a number of characters.
    case atMost(Int)
    /// A string of another form, with the name of the form in faults.
    case named(String, @Sendable (Span<UInt8>) -> Bool)
}

/// The form of the keys of an object that can have any number of them.
public struct KeyForm: Sendable {
    /// What keys of the form name, for faults.
    let subject: String
    let matches: @Sendable (Span<UInt8>) -> Bool

    /// Declares a form.
    /// - Parameters:
    ///   - subject: What the keys name, with an article, such as `a label`.
    ///   - matches: Returns whether a key has the form.
    public init(_ subject: String, _ matches: @escaping @Sendable (Span<UInt8>) -> Bool) {
        self.subject = subject
        self.matches = matches
    }

    /// Any key.
    public static let any = KeyForm("anything") { _ in true }

    /// A key with at most a number of characters.
    public static func atMost(_ count: Int, _ subject: String) -> KeyForm {
        KeyForm(subject) { $0.hasCharacters(atMost: count) }
    }
}
