import Bytes
import JSONText

/// A form of values that are kept unchanged when ids are replaced by pseudonyms.
///
/// Any other value can be arbitrary data of an app, or can come from a forged capture.
///
/// Source: "Pseudonyms".
public enum KeptForm: Sendable {
    /// A number.
    case number
    /// `true` or `false`.
    case boolean
    /// The string `true` or `false`.
    case flag
    /// A string that contains a decimal number with an optional sign and decimal point.
    case decimal
    /// An identifier: a letter followed by letters, digits, `_`, `-` and `.`.
    case word
    /// One or more words, such as the name of an app or an experiment.
    case name
    /// A single word or a documented name, such as the model of a device or the name of an operating system.
    ///
    /// Other names of several words are not accepted, because they can be names of people.
    case model
    /// A version: letters, digits and separators, with at least one digit.
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
    case oneOf(Set<String>)
    /// An identifier with the given prefix.
    case beginning(String)
    /// A code of the given number of letters and digits.
    case code(length: Int)

    /// Returns whether a JSON value has the form.
    func matches(_ value: JSONNode, of document: JSONDocument) -> Bool {
        switch (self, document.kind(of: value)) {
        case (.number, .number), (.boolean, .true), (.boolean, .false): true
        case (.number, _), (.boolean, _): false
        case (_, .string): matches(document.bytes(of: value))
        default: false
        }
    }

    /// Returns whether a string is empty or has the form.
    func matches(_ text: Span<UInt8>) -> Bool {
        guard !text.isEmpty else { return true }
        guard text.count <= Self.maximumLength, !text.mayContainID else { return false }
        switch self {
        case .number, .boolean: return false
        case .flag: return text.equals("true") || text.equals("false")
        case .decimal: return text.isDecimal
        case .word: return text[0].isLetter && text.allSatisfy { $0.isLetter || $0.isDigit || "_-.".utf8.contains($0) }
        case .name: return text.isName
        case .model:
            return text.isName && !text.contains(UInt8(ascii: " "))
                || Self.documentedModels.contains(String(readingUTF8: text))
        case .version: return text.hasDigit && text.isName
        case .locale: return text.isLocale
        case .date:
            return text.count <= 40 && text.startsWithDate
                && text.allSatisfy { $0.isDigit || "-:.+TZ ".utf8.contains($0) }
        case .zone:
            return text[0].isLetter && text.allSatisfy { $0.isLetter || $0.isDigit || "_-+/".utf8.contains($0) }
        case .scheme: return text.isScheme
        case .code(let length): return text.count == length && text.allSatisfy { $0.isLetter || $0.isDigit }
        case .oneOf(let known): return known.contains(String(readingUTF8: text))
        case .beginning(let start):
            return text.count > start.utf8.count && text.extracting(..<start.utf8.count).equals(start)
                && KeptForm.word.matches(text)
        }
    }

    /// The maximum length of a string in bytes.
    ///
    /// All documented strings are shorter.
    private static let maximumLength = 100

    /// The documented names of models and systems that consist of several words.
    private static let documentedModels: Set<String> = [
        "Mac OS X", "iPad Simulator", "iPhone OS", "iPhone Simulator", "iPod touch",
    ]
}

extension Span<UInt8> {
    fileprivate var hasDigit: Bool { indices.contains { self[$0].isDigit } }

    fileprivate func contains(_ byte: UInt8) -> Bool { indices.contains { self[$0] == byte } }

    /// Whether the string consists of the characters of names and versions.
    fileprivate var isName: Bool { allSatisfy { $0.isLetter || $0.isDigit || " _-.,+()".utf8.contains($0) } }

    /// Whether the string starts with four digits, two digits and two digits, separated by hyphens.
    fileprivate var startsWithDate: Bool {
        guard count >= 10 else { return false }
        return (0..<10).allSatisfy { $0 == 4 || $0 == 7 ? self[$0] == UInt8(ascii: "-") : self[$0].isDigit }
    }

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

    /// Whether part of the string resembles an id, a token or an IP address.
    fileprivate var mayContainID: Bool { hasIPAddress || hasLongHexadecimalRun || hasUUID || hasIMEI }

    private var hasUUID: Bool {
        count >= 36 && (0...(count - 36)).contains { extracting($0..<$0 + 36).isUUID }
    }

    /// Whether the string contains 20 consecutive hexadecimal digits, or 12 that include both letters and numerals,
    /// such as the end of a UUID.
    private var hasLongHexadecimalRun: Bool {
        var run = 0
        var hasLetter = false
        var hasNumeral = false
        for index in indices {
            guard self[index].hexadecimalValue != nil else {
                (run, hasLetter, hasNumeral) = (0, false, false)
                continue
            }
            run += 1
            if self[index].isDigit { hasNumeral = true } else { hasLetter = true }
            if run >= 12, hasLetter, hasNumeral { return true }
            // Times in milliseconds or nanoseconds are kept. They have at most 19 digits.
            if run > 19 { return true }
        }
        return false
    }

    /// Whether the string contains exactly 15 consecutive digits, such as an IMEI or an IMSI.
    ///
    /// No documented value has this number of digits.
    private var hasIMEI: Bool {
        var run = 0
        for end in 0...count {
            if end < count, self[end].isDigit {
                run += 1
            } else {
                if run == 15 { return true }
                run = 0
            }
        }
        return false
    }

    /// Whether the string contains an IPv4 address.
    private var hasIPAddress: Bool {
        var start = 0
        for end in 0...count where end == count || !(self[end].isDigit || self[end] == UInt8(ascii: ".")) {
            var run = start..<end
            while let first = run.first, self[first] == UInt8(ascii: ".") { run.removeFirst() }
            while let last = run.last, self[last] == UInt8(ascii: ".") { run.removeLast() }
            if extracting(run).isIPv4Address { return true }
            start = end + 1
        }
        return false
    }

    private var isIPv4Address: Bool {
        var parts = 0
        var value = 0
        var digits = 0
        for index in indices {
            if self[index] == UInt8(ascii: ".") {
                guard digits > 0 else { return false }
                (parts, value, digits) = (parts + 1, 0, 0)
                continue
            }
            guard self[index].isDigit, digits < 3 else { return false }
            value = value * 10 + Int(self[index] & 0xF)
            digits += 1
            guard value <= 255 else { return false }
        }
        return parts == 3 && digits > 0
    }
}
