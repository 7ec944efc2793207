import Bytes

/// The locale of an app in the form of a BCP 47 language tag, such as `zh-Hans-CN` for `zh-hans_cn`.
///
/// Apps store locales in several notations, which would otherwise be counted separately.
///
/// Source: RFC 5646, section 2.1.1.
struct NormalizedLocale {
    /// The bytes of the tag.
    private(set) var bytes: [UInt8]

    /// Normalizes a locale, or returns `nil` if it does not consist of a language and other subtags.
    ///
    /// Keywords and character sets, such as in `en_US@calendar=buddhist`, are omitted.
    init?(_ locale: ArraySlice<UInt8>) {
        let tag = locale.prefix { $0 != UInt8(ascii: "@") && $0 != UInt8(ascii: ".") }
        let subtags = tag.split(omittingEmptySubsequences: false) { "-_".utf8.contains($0) }
        guard let language = subtags.first, (2...3).contains(language.count), language.allSatisfy(\.isLetter),
            subtags.allSatisfy({ (1...8).contains($0.count) && $0.allSatisfy { $0.isLetter || $0.isDigit } })
        else { return nil }
        bytes = language.map(\.lowercased)
        var isExtension = false
        var hasRegion = false
        for subtag in subtags.dropFirst() {
            if subtag.count == 1 { isExtension = true }
            let isWord = !isExtension && subtag.allSatisfy(\.isLetter)
            let isRegion = isWord && subtag.count == 2
            // Leanplum adds the region to a locale that can already contain one, as in `zh-Hant-TW_TW`.
            if isRegion && hasRegion { continue }
            hasRegion = hasRegion || isRegion
            bytes.append(UInt8(ascii: "-"))
            if isRegion {
                bytes += subtag.map(\.uppercased)
            } else {
                let start = bytes.count
                bytes += subtag.map(\.lowercased)
                // A word with four letters is a script.
                if isWord && subtag.count == 4 { bytes[start] = bytes[start].uppercased }
            }
        }
    }
}
