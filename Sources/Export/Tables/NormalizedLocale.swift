import Bytes

/// The locale of an app in the form of a BCP 47 language tag, such as `zh-Hans-CN` for `zh-hans_cn`.
///
/// Apps store locales in several notations, which would otherwise be counted separately.
///
/// Source: RFC 5646, section 2.1.1.
struct NormalizedLocale {
    /// The bytes of the tag.
    let bytes: [UInt8]

    /// Normalizes a locale, or returns `nil` if it does not consist of a language and other subtags.
    ///
    /// Keywords and character sets, such as in `en_US@calendar=buddhist`, are omitted.
    init?(_ locale: ArraySlice<UInt8>) {
        let tag = locale.prefix { $0 != UInt8(ascii: "@") && $0 != UInt8(ascii: ".") }
        let subtags = tag.split(omittingEmptySubsequences: false) { "-_".utf8.contains($0) }
        guard let language = subtags.first, (2...3).contains(language.count), language.allSatisfy(\.isLetter),
            subtags.allSatisfy({ (1...8).contains($0.count) && $0.allSatisfy { $0.isLetter || $0.isDigit } })
        else { return nil }
        var bytes = language.map(\.lowercased)
        for subtag in subtags.dropFirst() {
            bytes.append(UInt8(ascii: "-"))
            bytes += Self.normalized(subtag)
        }
        self.bytes = bytes
    }

    /// Returns a script in title case, a region in upper case, and any other subtag in lower case.
    private static func normalized(_ subtag: ArraySlice<UInt8>) -> [UInt8] {
        let lowercased = subtag.map(\.lowercased)
        guard subtag.allSatisfy(\.isLetter) else { return lowercased }
        switch subtag.count {
        case 2: return subtag.map(\.uppercased)
        case 4: return [lowercased[0].uppercased] + lowercased[1...]
        default: return lowercased
        }
    }
}
