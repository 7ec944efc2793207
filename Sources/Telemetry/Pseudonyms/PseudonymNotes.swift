import JSONText

/// What stays of notes, rejects and problems: the code that begins each. Behind it stand words, in which pieces of input may be.
package enum PseudonymNotes {
    /// Codes of one plain word.
    private static let words: Set<String> = [
        "PE", "absorbed", "changed", "corrupt", "damaged", "link", "special", "unproven", "unreadable",
    ]

    /// The code of a text: `C8`, `5.1`, `no-target`, `bad_nested_json:params@3`; nil for a text that begins with none.
    ///
    /// A bundle can have been made by anybody, so that no word passes that could be an id or a name of a person: a code has
    /// letters and figures as the format documents write them, or is words that are joined.
    package static func code(of text: String) -> String? {
        let code = text.utf8.prefix { $0 != UInt8(ascii: " ") }
        guard code.count <= longest, let known = String(code) else { return nil }
        return words.contains(known) || isCaseID(Array(code)) || isJoinedWords(code) ? known : nil
    }

    private static let longest = 60

    /// `P12`, `E.2`, `5.1`
    private static func isCaseID(_ code: [UInt8]) -> Bool {
        guard (2...5).contains(code.count), isCapital(code[0]) || code[0].isDigit else { return false }
        if code[1] == UInt8(ascii: ".") { return code.count <= 4 && code.count > 2 && code[2...].allSatisfy(\.isDigit) }
        let figures = code.drop { isCapital($0) }
        return (1...2).contains(code.count - figures.count) && (1...3).contains(figures.count)
            && figures.allSatisfy(\.isDigit)
    }

    /// `no-target`, `missing_action@3`, `credential_removed:clientKey@3`
    private static func isJoinedWords(_ code: Substring.UTF8View) -> Bool {
        let parts = code.split(separator: UInt8(ascii: "@"), maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 1 || (1...10).contains(parts[1].count) && parts[1].allSatisfy(\.isDigit) else {
            return false
        }
        let halves = parts[0].split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
        guard halves.count == 1 || (1...24).contains(halves[1].count) && halves[1].allSatisfy(\.isLetter) else {
            return false
        }
        let words = halves[0].split(omittingEmptySubsequences: false) { "-_".utf8.contains($0) }
        return words.count > 1 && words.allSatisfy { !$0.isEmpty && $0.allSatisfy { (0x61...0x7A).contains($0) } }
    }

    private static func isCapital(_ byte: UInt8) -> Bool { (0x41...0x5A).contains(byte) }
}
