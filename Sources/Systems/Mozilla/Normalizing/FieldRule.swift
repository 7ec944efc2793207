import JSONText

/// The values that a documented field of a ping may have.
///
/// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", section 9.
enum FieldRule: Sendable {
    /// The ping's version: an integer that has a schema.
    case version(ClosedRange<Int>)
    /// An integer of any size.
    case integer(isNatural: Bool = false, nullable: Bool = false)
    /// `true` or `false`.
    case boolean(nullable: Bool = false)
    /// A string, in a form where one is given.
    case string(StringForm = .any, nullable: Bool = false)
    /// An object whose values are integers: search counts.
    case integers
    /// An object whose values are strings, and null where allowed.
    case strings(nullable: Bool)
    /// An array of strings.
    case stringList(nullable: Bool = false, nullableItems: Bool = false)
    /// The Android-only part of a core ping; its fields are ``FennecFields``.
    case fennec(FennecFields.Group)
    /// The events of an event ping.
    case events

    /// Whether null is a documented value.
    var isNullable: Bool {
        switch self {
        case .integer(_, let nullable), .boolean(let nullable), .string(_, let nullable),
            .stringList(let nullable, _):
            nullable
        case .version, .integers, .strings, .fennec, .events: false
        }
    }
}

/// The form of a documented string.
enum StringForm: Sendable {
    case any
    /// 8-4-4-4-12 hexadecimal digits of either case.
    case uuid
    /// Contains `dddd-dd-dd`.
    case containsDate
    /// Starts with digits and a dot.
    case startsWithNumber

    func matches(_ text: Span<UInt8>) -> Bool {
        switch self {
        case .any: true
        case .uuid: text.isUUID
        case .containsDate:
            text.count >= 10 && (0...(text.count - 10)).contains { text.extracting($0..<$0 + 10).isDate }
        case .startsWithNumber: text.startsWithDigitsAndDot
        }
    }

    var name: String {
        switch self {
        case .any: "a string"
        case .uuid: "a UUID"
        case .containsDate: "a date"
        case .startsWithNumber: "a version"
        }
    }
}

/// A documented field of a ping.
struct Field: Sendable {
    let key: JSONKey
    let rule: FieldRule
    let isRequired: Bool

    private init(_ key: JSONKey, _ rule: FieldRule, isRequired: Bool) {
        self.key = key
        self.rule = rule
        self.isRequired = isRequired
    }

    /// Makes a field that may be missing.
    static func optional(_ key: JSONKey, _ rule: FieldRule) -> Field {
        Field(key, rule, isRequired: false)
    }

    /// Makes a field that must be there.
    static func required(_ key: JSONKey, _ rule: FieldRule) -> Field {
        Field(key, rule, isRequired: true)
    }
}

extension [Field] {
    /// The fields in the order in which an object has its members.
    var inCanonicalOrder: [Field] {
        sorted { $0.key.utf8.span.ordered(against: $1.key.utf8.span) < 0 }
    }
}

extension Span<UInt8> {
    /// Whether the bytes are `dddd-dd-dd`.
    var isDate: Bool {
        guard count == 10 else { return false }
        for index in indices {
            let isDash = index == 4 || index == 7
            if isDash ? self[index] != UInt8(ascii: "-") : !self[index].isDigit { return false }
        }
        return true
    }

    fileprivate var startsWithDigitsAndDot: Bool {
        var index = 0
        while index < count, self[index].isDigit { index += 1 }
        return index > 0 && index < count && self[index] == UInt8(ascii: ".")
    }
}
