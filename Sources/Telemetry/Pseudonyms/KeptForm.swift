import Bytes
import JSONText

/// A form of values that are kept unchanged when ids are replaced by pseudonyms.
///
/// Values without such a form are not kept, because they can be arbitrary data of an app or come from a forged capture.
///
/// Source: "Pseudonyms".
public enum KeptForm: Sendable {
    /// A number that cannot be the id of a phone or of its SIM card.
    case number
    /// A number of any size, such as a time.
    case anyNumber
    /// `true` or `false`.
    case boolean
    /// The string `true` or `false`.
    case flag
    /// A string that contains a decimal number with an optional sign and decimal point.
    ///
    /// As with ``number``, the number cannot be the id of a phone or of its SIM card.
    case decimal
    /// An identifier: a letter followed by letters, digits, `_`, `-` and `.`.
    case word
    /// One or more words, such as the name of an app or an experiment.
    case name
    /// A single word or a documented name, such as the model of a device or the name of an operating system.
    ///
    /// Other names of several words are not accepted, because they can be names of people.
    case model
    /// A version: a single word of letters, digits and separators, with at least one digit.
    case version
    /// A locale: a language with an optional script, region and keywords, or `??`.
    case locale
    /// A date in the form `YYYY-MM-DD`, optionally followed by a time and an offset from UTC.
    case date
    /// The name of a time zone, such as `Europe/Berlin`.
    case zone
    /// A URL scheme with a colon, optionally followed by two slashes.
    case scheme
    /// One of the given strings.
    case oneOf(Set<CapturedText>)
    /// An identifier with the given prefix.
    case beginning(String)
    /// A code of the given number of letters and digits.
    case code(length: Int)

    /// Returns whether a JSON value has the form.
    func matches(_ value: JSONNode, of document: JSONDocument) -> Bool {
        switch (self, document.kind(of: value)) {
        case (.number, .number): !document.bytes(of: value).mayBePhoneID
        case (.anyNumber, .number), (.boolean, .true), (.boolean, .false): true
        case (.number, _), (.anyNumber, _), (.boolean, _): false
        case (_, .string): matches(document.bytes(of: value))
        default: false
        }
    }

    /// Returns whether a string is empty or has the form.
    func matches(_ text: Span<UInt8>) -> Bool {
        guard !text.isEmpty else { return true }
        guard text.count <= Self.maximumLength else { return false }
        switch self {
        case .number, .anyNumber, .boolean: return false
        case .flag: return text.equals("true") || text.equals("false")
        case .decimal: return text.isDecimal && !text.mayBePhoneID
        case .date: return TimeForm.isTime(text)
        case .code(let length): return text.count == length && text.allSatisfy { $0.isLetter || $0.isDigit }
        case .oneOf(let known): return known.contains(String(readingUTF8: text))
        case .word, .name, .model, .version, .locale, .zone, .scheme, .beginning:
            return !text.mayContainID && consistsOfWords(text)
        }
    }

    private func consistsOfWords(_ text: Span<UInt8>) -> Bool {
        switch self {
        case .word: text[0].isLetter && text.allSatisfy { $0.isLetter || $0.isDigit || "_-.".utf8.contains($0) }
        case .name: text.isName
        case .model: text.isSingleName || Self.documentedModels.contains(String(readingUTF8: text))
        case .version: text.hasDigit && text.isSingleName
        case .locale: text.isLocale
        case .zone: text[0].isLetter && text.allSatisfy { $0.isLetter || $0.isDigit || "_-+/".utf8.contains($0) }
        case .scheme: text.isScheme
        case .beginning(let start):
            text.count > start.utf8.count && text.starts(with: start.utf8.span) && KeptForm.word.matches(text)
        case .number, .anyNumber, .boolean, .flag, .decimal, .date, .code, .oneOf: false
        }
    }

    /// The maximum length of a string in bytes.
    ///
    /// All documented strings are shorter.
    private static let maximumLength = 100

    /// The documented names of models and systems that consist of several words.
    private static let documentedModels: Set<CapturedText> = [
        "Mac OS X", "iPad Simulator", "iPhone OS", "iPhone Simulator", "iPod touch",
    ]
}

extension Span<UInt8> {
    fileprivate var hasDigit: Bool { indices.contains { self[$0].isDigit } }

    /// Whether the string consists of the characters of names and versions.
    ///
    /// A string that begins with a plus sign or a parenthesis is excluded, because it can be a phone number.
    fileprivate var isName: Bool {
        !"+(".utf8.contains(self[0]) && allSatisfy { $0.isLetter || $0.isDigit || " _-.,+()".utf8.contains($0) }
    }

    /// Whether the string is a name of a single word.
    fileprivate var isSingleName: Bool { isName && allSatisfy { $0 != UInt8(ascii: " ") } }

    /// Whether the string is a decimal number, such as `-12`, `0.5` or `1497595093.902000`.
    fileprivate var isDecimal: Bool {
        var digits = 0
        var points = 0
        for index in indices {
            switch self[index] {
            case UInt8(ascii: "-") where index == 0: continue
            case UInt8(ascii: ".") where digits > 0 && points == 0: points = 1
            case let byte where byte.isDigit: digits += 1
            default: return false
            }
        }
        return digits > 0 && digits <= 24
    }

    /// Whether the string is a locale, such as `??`, `de`, `zh-Hans_CN` or `en_US@calendar=buddhist`.
    fileprivate var isLocale: Bool {
        if equals("??") { return true }
        var letters = 0
        while letters < count, self[letters].isLetter { letters += 1 }
        guard (2...3).contains(letters), count <= 60 else { return false }
        guard letters < count else { return true }
        let end = indices.first { self[$0] == UInt8(ascii: "@") } ?? count
        // A keyword has an equals sign. This distinguishes a locale from an email address.
        if end < count {
            let keywords = extracting((end + 1)...)
            guard !keywords.isEmpty, keywords.hasKeywords else { return false }
        }
        return extracting(letters..<end).allSatisfy { $0.isLetter || $0.isDigit || $0 == 0x5F || $0 == 0x2D }
            && (letters == end || self[letters] == 0x5F || self[letters] == 0x2D)
    }

    /// Whether the string consists of keywords with values, separated by semicolons, such as `calendar=buddhist`.
    private var hasKeywords: Bool {
        var hasName = false
        var hasEquals = false
        for index in indices {
            switch self[index] {
            case UInt8(ascii: "="):
                guard hasName, !hasEquals else { return false }
                hasEquals = true
            case UInt8(ascii: ";"):
                guard hasEquals else { return false }
                (hasName, hasEquals) = (false, false)
            case let byte where byte.isLetter || byte.isDigit || byte == UInt8(ascii: "-"): hasName = true
            default: return false
            }
        }
        return hasEquals
    }

    /// Whether the string is a URL scheme, such as `mailto:` or `googlegmail://`.
    fileprivate var isScheme: Bool {
        var end = 0
        while end < count, self[end].isLetter || self[end].isDigit || "+.-".utf8.contains(self[end]) { end += 1 }
        guard end > 0, self[0].isLetter, end < count else { return false }
        let rest = extracting(end...)
        return rest.equals(":") || rest.equals("://")
    }
}
