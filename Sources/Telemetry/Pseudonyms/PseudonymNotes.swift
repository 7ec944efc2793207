import Bytes
import JSONText

/// Functions that reduce notes, rejects and problems to their codes.
///
/// The words after a code are removed because they can contain captured data.
package enum PseudonymNotes {
    /// The codes that consist of a single word.
    private static let words: Set<CapturedText> = [
        "PE", "absorbed", "changed", "corrupt", "damaged", "link", "special", "unproven", "unreadable",
    ]

    /// Returns the code at the beginning of a string, such as `C8`, `5.1`, `no-target` or `bad_nested_json:params@3`.
    ///
    /// A code is a case id of a format document, a known word, or several joined words. A number after joined words has
    /// at most six digits, because a longer number could be an id in a forged bundle. Returns `nil` if there is no
    /// code.
    package static func code(of text: String) -> String? {
        let code = text.utf8.prefix { $0 != UInt8(ascii: " ") }
        guard code.count <= maximumLength, let known = String(code) else { return nil }
        return words.contains(known) || isCaseID(Array(code)) || isJoinedWords(code) ? known : nil
    }

    private static let maximumLength = 60

    /// Returns whether the bytes are a case id, such as `P12`, `E.2` or `5.1`.
    private static func isCaseID(_ code: [UInt8]) -> Bool {
        guard (2...5).contains(code.count), code[0].isUppercaseLetter || code[0].isDigit else { return false }
        if code[1] == UInt8(ascii: ".") { return code.count <= 4 && code.count > 2 && code[2...].allSatisfy(\.isDigit) }
        let figures = code.drop(while: \.isUppercaseLetter)
        return (1...2).contains(code.count - figures.count) && (1...3).contains(figures.count)
            && figures.allSatisfy(\.isDigit)
    }

    /// Returns whether the code consists of joined words, such as `no-target`, `missing_action@3` or
    /// `credential_removed:clientKey@3`.
    private static func isJoinedWords(_ code: Substring.UTF8View) -> Bool {
        let parts = code.split(separator: UInt8(ascii: "@"), maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 1 || (1...6).contains(parts[1].count) && parts[1].allSatisfy(\.isDigit) else {
            return false
        }
        let halves = parts[0].split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
        guard halves.count == 1 || (1...24).contains(halves[1].count) && halves[1].allSatisfy(\.isLetter) else {
            return false
        }
        let words = halves[0].split(omittingEmptySubsequences: false) { "-_".utf8.contains($0) }
        return words.count > 1 && words.allSatisfy { !$0.isEmpty && $0.allSatisfy(\.isLowercaseLetter) }
    }
}
