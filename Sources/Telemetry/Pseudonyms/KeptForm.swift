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
    /// A string that contains a decimal number with an optional sign, decimal point and exponent.
    ///
    /// As with ``number``, the number cannot be the id of a phone or of its SIM card.
    case decimal
    /// An identifier: a letter followed by letters, digits, `_`, `-` and `.`.
    case word
    /// One or more words, such as the name of an app or an experiment.
    case name
    /// The model of a device, or the documented name of a product, an operating system or a processor.
    case model
    /// A version, or the number or time of a build.
    case version
    /// A locale: a language with an optional script, region and keywords, or `??`.
    case locale
    /// A date in the form `YYYY-MM-DD`, optionally followed by a time and an offset from UTC.
    case date
    /// The name of a time zone, such as `Europe/Berlin` or `GMT+0200`.
    case zone
    /// A URL scheme with a colon, optionally followed by two slashes.
    case scheme
    /// One of the given strings.
    case oneOf(Set<CapturedText>)
    /// An identifier with the given prefix.
    case beginning(String)
    /// A code of the given number of lowercase letters and digits, at least one of which is not a hexadecimal digit.
    ///
    /// Therefore, the code cannot be a phone number or a hardware address.
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
        case .code(let length):
            return text.count == length && text.allSatisfy { $0.isLowercaseLetter || $0.isDigit }
                && !text.allSatisfy { $0.hexadecimalValue != nil }
        case .oneOf(let known): return known.contains(String(readingUTF8: text))
        case .version: return !text.mayContainID && text.isVersion
        case .word, .name, .model, .locale, .zone, .scheme, .beginning:
            return !text.mayContainID && !text.hasLongNumber && consistsOfWords(text)
        }
    }

    private func consistsOfWords(_ text: Span<UInt8>) -> Bool {
        switch self {
        case .word: text[0].isLetter && text.allSatisfy { $0.isLetter || $0.isDigit || $0.isOne(of: "_-.") }
        case .name: text.isName
        case .model: text.isModel
        case .locale: text.isLocale
        case .zone: text.isTimeZone
        case .scheme: text.isScheme
        case .beginning(let start):
            text.count > start.utf8.count && text.starts(with: start.utf8.span) && KeptForm.word.matches(text)
        case .number, .anyNumber, .boolean, .flag, .decimal, .version, .date, .code, .oneOf: false
        }
    }

    /// The maximum length of a string in bytes.
    ///
    /// All documented strings are shorter.
    private static let maximumLength = 100

    /// The areas of time zones.
    fileprivate static let zoneAreas: Set<CapturedText> = [
        "Africa", "America", "Antarctica", "Arctic", "Asia", "Atlantic", "Australia", "Brazil", "Canada", "Chile",
        "Etc", "Europe", "Indian", "Mexico", "Pacific", "US",
    ]
}

extension Span<UInt8> {
    /// Whether the string consists of the characters of names.
    ///
    /// A string that begins with a plus sign or a parenthesis is excluded, because it can be a phone number.
    fileprivate var isName: Bool {
        !self[0].isOne(of: "+(") && allSatisfy { $0.isLetter || $0.isDigit || $0.isOne(of: " _-.,+()") }
    }

    /// Whether the string is a decimal number, such as `-12`, `0.5`, `1497595093.902000` or `1.497595093902E9`.
    fileprivate var isDecimal: Bool {
        let hasExponent = indices.contains { self[$0] | 0x20 == UInt8(ascii: "e") }
        guard !hasExponent else { return count <= 27 && DecimalParts(self) != nil }
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
    ///
    /// A subtag has at most eight letters or digits, and its digits are a region such as `419`, or the year of a variant.
    fileprivate var isLocale: Bool {
        if equals("??") { return true }
        // A keyword has an equals sign. This distinguishes a locale from an email address.
        let end = indices.first { self[$0] == UInt8(ascii: "@") } ?? count
        if end < count {
            let keywords = extracting((end + 1)...)
            guard !keywords.isEmpty, keywords.hasKeywords else { return false }
        }
        var start = 0
        for index in 0...end where index == end || self[index] == 0x5F || self[index] == 0x2D {
            let subtag = extracting(start..<index)
            let isLanguage = (2...3).contains(subtag.count) && subtag.allSatisfy(\.isLetter)
            guard start == 0 ? isLanguage : subtag.isSubtag else { return false }
            start = index + 1
        }
        return count <= 60
    }

    private var isSubtag: Bool {
        let digitCount = indices.count { self[$0].isDigit }
        return (1...8).contains(count) && allSatisfy { $0.isLetter || $0.isDigit }
            && (digitCount == 0 || digitCount == count && (3...4).contains(count))
    }

    /// Whether the string consists of keywords with values, separated by semicolons, such as `calendar=buddhist`.
    ///
    /// All values together have at most four digits.
    private var hasKeywords: Bool {
        var hasName = false
        var hasEquals = false
        var digitCount = 0
        for index in indices {
            switch self[index] {
            case UInt8(ascii: "="):
                guard hasName, !hasEquals else { return false }
                hasEquals = true
            case UInt8(ascii: ";"):
                guard hasEquals else { return false }
                (hasName, hasEquals) = (false, false)
            case let byte where byte.isLetter || byte == UInt8(ascii: "-"): hasName = true
            case let byte where byte.isDigit:
                digitCount += 1
                guard digitCount <= 4 else { return false }
            default: return false
            }
        }
        return hasEquals
    }

    /// Whether the string is the name of a time zone: an area with places, such as `America/Argentina/Buenos_Aires`, or an
    /// abbreviation with an optional offset, such as `GMT+0200`.
    fileprivate var isTimeZone: Bool {
        guard indices.count(where: { self[$0].isDigit }) <= 4 else { return false }
        guard let slash = indices.first(where: { self[$0] == UInt8(ascii: "/") }) else {
            return self[0].isUppercaseLetter && count <= 9
                && allSatisfy { $0.isUppercaseLetter || $0.isDigit || $0.isOne(of: "+-:") }
        }
        return KeptForm.zoneAreas.contains(String(readingUTF8: extracting(..<slash)))
            && extracting(slash...).allSatisfy { $0.isLetter || $0.isDigit || $0.isOne(of: "_-+/") }
    }

    /// Whether the string is a URL scheme, such as `mailto:` or `googlegmail://`.
    fileprivate var isScheme: Bool {
        var end = 0
        while end < count, self[end].isLetter || self[end].isDigit || self[end].isOne(of: "+.-") { end += 1 }
        guard end > 0, self[0].isLetter, end < count else { return false }
        let rest = extracting(end...)
        return rest.equals(":") || rest.equals("://")
    }
}

// Patterns that detect ids in strings and numbers. A value with an id is not kept, even if it has a permitted form.
//
// Source: "Pseudonyms", section "Guarantees".
extension Span<UInt8> {
    /// Whether part of the string resembles an id, a token, a serial number, a network address or a coordinate.
    fileprivate var mayContainID: Bool { hasLongRun || hasSerialNumber || hasIPAddress || hasCoordinate }

    /// Whether the string contains nine consecutive digits, as a phone number does.
    fileprivate var hasLongNumber: Bool {
        var count = 0
        for index in indices {
            count = self[index].isDigit ? count + 1 : 0
            if count >= 9 { return true }
        }
        return false
    }

    /// Whether a decimal number has as many digits before its decimal point as an id of a phone or of its SIM card.
    ///
    /// An IMEI and an IMSI have 15 digits, and the number of a SIM card has 19 or 20. If the number has an exponent
    /// that is not negative, the digits after the decimal point are counted, too.
    fileprivate var mayBePhoneID: Bool {
        let end = indices.first { self[$0] | 0x20 == UInt8(ascii: "e") } ?? count
        let isScaled = end + 1 < count && self[end + 1] != UInt8(ascii: "-")
        let point = indices.first { self[$0] == UInt8(ascii: ".") } ?? end
        let digits = (0..<(isScaled ? end : point)).count { self[$0].isDigit }
        return digits == 15 || digits > 18
    }

    /// Whether the string contains 15 digits without a letter between them, or 12 consecutive hexadecimal digits that
    /// include both letters and numerals, or 20 consecutive hexadecimal digits.
    ///
    /// Separators between digits are ignored, so that a UUID, a hardware address and a grouped IMEI are found.
    private var hasLongRun: Bool {
        var (digits, letters) = (0, 0)
        var digitsSinceLetter = 0
        for index in 0...count {
            let byte = index < count ? self[index] : UInt8(ascii: " ")
            if byte.isDigit { digitsSinceLetter += 1 } else if byte.isLetter { digitsSinceLetter = 0 }
            if digitsSinceLetter >= 15 { return true }
            if byte.isDigit {
                digits += 1
            } else if byte.hexadecimalValue != nil {
                letters += 1
            } else if !byte.isOne(of: "-_.:") {
                (digits, letters) = (0, 0)
            }
            let length = digits + letters
            if digits >= 15 || length >= 20 || length >= 12 && digits > 0 && letters > 0 { return true }
        }
        return false
    }

    /// Whether the string contains 12 consecutive letters and digits in at least four alternating groups of letters and
    /// digits, as a serial number or a part of a token does.
    private var hasSerialNumber: Bool {
        var (count, changes) = (0, 0)
        for index in indices {
            guard self[index].isLetter || self[index].isDigit else {
                (count, changes) = (0, 0)
                continue
            }
            count += 1
            if count > 1, self[index].isDigit != self[index - 1].isDigit { changes += 1 }
            if count >= 12, changes >= 3 { return true }
        }
        return false
    }

    /// Whether the string contains a run of four or more numbers from 0 to 255, as in an IPv4 address.
    ///
    /// The numbers are separated by dots, hyphens or underscores.
    private var hasIPAddress: Bool {
        var start = 0
        for end in 0...count where end == count || !(self[end].isDigit || self[end].isAddressSeparator) {
            var run = start..<end
            while let first = run.first, self[first].isAddressSeparator { run.removeFirst() }
            while let last = run.last, self[last].isAddressSeparator { run.removeLast() }
            if extracting(run).isIPv4Address { return true }
            start = end + 1
        }
        return false
    }

    /// Whether the string contains a decimal number with at least four decimal places, as a latitude has.
    ///
    /// Versions have several points, or fewer decimal places.
    private var hasCoordinate: Bool {
        var start = 0
        for end in 0...count where end == count || !(self[end].isDigit || self[end] == UInt8(ascii: ".")) {
            let number = extracting(start..<end)
            start = end + 1
            let points = number.indices.count { number[$0] == UInt8(ascii: ".") }
            guard points == 1, let point = number.indices.first(where: { number[$0] == UInt8(ascii: ".") }) else {
                continue
            }
            if (1...3).contains(point), number.count - point > 4 { return true }
        }
        return false
    }

    private var isIPv4Address: Bool {
        var parts = 0
        var value = 0
        var digits = 0
        for index in indices {
            if self[index].isAddressSeparator {
                guard digits > 0 else { return false }
                (parts, value, digits) = (parts + 1, 0, 0)
                continue
            }
            guard self[index].isDigit, digits < 3 else { return false }
            value = value * 10 + Int(self[index] & 0xF)
            digits += 1
            guard value <= 255 else { return false }
        }
        return parts >= 3 && digits > 0
    }
}

extension UInt8 {
    fileprivate var isAddressSeparator: Bool { isOne(of: ".-_") }
}

// The forms of models and versions.
//
// Apps can store any string as a model or a version. Only strings that look like one are kept, because a single word can
// also be a name, a phone number, or coordinates.
//
// Source: "Pseudonyms", section "Guarantees".
extension Span<UInt8> {
    /// Whether the string is the documented name of a product, a system or a processor, or the identifier of a model,
    /// such as `iPhone10,4`, `D101AP` or `SM-G900F`.
    var isModel: Bool {
        ModelNames.all.contains(String(readingUTF8: self)) || isAppleModel || isAppleBoard || isProductCode
    }

    /// Whether the string is a version, such as `13.4.1`, `v0.1.3-alpha`, `8.1b3`, `1.0(2)` or `17F80`, or the time of a
    /// build, such as `20200522140512`.
    ///
    /// A decimal number with more than three decimal places is excluded, because it can be a coordinate.
    var isVersion: Bool {
        var text = TextCursor(self)
        _ = text.skip("v")
        var first = text.skip(upTo: 14, where: \.isDigit)
        guard first.count > 0 else { return false }
        if text.isAtEnd { return first.count <= 7 || extracting(first).isBuildTime }
        guard first.count <= 4 else { return false }
        var componentLimit = 3
        for _ in 0..<4 where text.skip(".") {
            first = text.skip(upTo: componentLimit, where: \.isDigit)
            guard first.count > 0 else { return false }
            componentLimit = 5
        }
        if text.skip("(") { return text.skip(upTo: 5, where: \.isDigit).count > 0 && text.skip(")") && text.isAtEnd }
        _ = text.skip("-")
        let stage = text.skip(upTo: 8, where: \.isLetter)
        guard stage.count <= 1 || ModelNames.stages.contains(String(readingUTF8: extracting(stage))) else {
            return false
        }
        if stage.count > 0 {
            _ = text.skip(".")
            // The build of a beta version of iOS ends with a letter, such as in `19A5252n`.
            if text.skip(upTo: 4, where: \.isDigit).count > 0 { _ = text.skip(upTo: 1, where: \.isLowercaseLetter) }
        }
        return text.isAtEnd && self[count - 1] != UInt8(ascii: "-") && self[count - 1] != UInt8(ascii: ".")
    }

    /// Whether the string is an identifier of Apple, such as `iPhone10,4`.
    private var isAppleModel: Bool {
        var text = TextCursor(self)
        return text.skip(upTo: 14, where: \.isLetter).count > 0 && text.skip(upTo: 2, where: \.isDigit).count > 0
            && text.skip(",") && text.skip(upTo: 2, where: \.isDigit).count > 0 && text.isAtEnd
    }

    /// Whether the string is the name of a board of Apple, such as `D101AP` or `J71sAP`.
    private var isAppleBoard: Bool {
        var text = TextCursor(self)
        guard text.skip(upTo: 2, where: \.isUppercaseLetter).count > 0,
            text.skip(upTo: 4, where: \.isDigit).count > 0
        else { return false }
        _ = text.skip(upTo: 1, where: \.isLowercaseLetter)
        return text.skip("A") && text.skip("P") && text.isAtEnd
    }

    /// Whether the string is a product code of another manufacturer, such as `SM-G900F`.
    private var isProductCode: Bool {
        var text = TextCursor(self)
        guard text.skip(upTo: 3, where: \.isUppercaseLetter).count > 1 else { return false }
        if text.skip("-") { _ = text.skip(upTo: 1, where: \.isUppercaseLetter) }
        guard text.skip(upTo: 4, where: \.isDigit).count > 2 else { return false }
        _ = text.skip(upTo: 2, where: \.isUppercaseLetter)
        return text.isAtEnd
    }

    /// Whether the digits are a date since 2000, such as `20200522`, optionally followed by hours, minutes and seconds.
    private var isBuildTime: Bool {
        guard count >= 8, count % 2 == 0, extracting(first: 2).equals("20") else { return false }
        let ranges: [ClosedRange<Int>] = [0...99, 1...12, 1...31, 0...23, 0...59, 0...59]
        return stride(from: 2, to: count, by: 2).allSatisfy { index in
            ranges[index / 2 - 1].contains(extracting(index..<index + 2).decimalNumber ?? -1)
        }
    }
}

/// The words that occur in models and versions.
private enum ModelNames {
    /// The documented names of products, systems and processors.
    static let all: Set<CapturedText> = [
        "Android", "Apple", "Darwin", "Linux", "Mac", "Mac OS X", "Windows", "aarch64", "arm64", "arm64e", "armv7",
        "armv7s", "armv8", "i386", "iOS", "iPad", "iPad Simulator", "iPadOS", "iPhone", "iPhone OS", "iPhone Simulator",
        "iPod", "iPod touch", "ios", "ipados", "macOS", "tvOS", "tvos", "unknown", "visionOS", "watchOS", "x86_64",
    ]

    /// The stages of development that can follow a version.
    static let stages: Set<CapturedText> = [
        "alpha", "beta", "debug", "dev", "nightly", "pre", "rc", "release", "snapshot",
    ]
}

/// A cursor that skips the parts of a string.
private struct TextCursor: ~Escapable {
    private let text: Span<UInt8>
    private var position = 0

    @_lifetime(copy text)
    init(_ text: Span<UInt8>) { self.text = text }

    var isAtEnd: Bool { position == text.count }

    /// Skips `byte` if it is the next byte, and returns whether it is.
    mutating func skip(_ byte: Unicode.Scalar) -> Bool {
        guard position < text.count, text[position] == UInt8(ascii: byte) else { return false }
        position += 1
        return true
    }

    /// Skips the following bytes with a property, which are at most `limit`, and returns their range.
    mutating func skip(upTo limit: Int, where hasProperty: (UInt8) -> Bool) -> Range<Int> {
        let start = position
        while position < text.count, position - start < limit, hasProperty(text[position]) { position += 1 }
        return start..<position
    }
}
