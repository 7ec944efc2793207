import Bytes

/// A mask that hides credentials in strings from a server, even if they are encoded or truncated.
///
/// A server can repeat a key in JSON, in a URL, in HTML, in uppercase or in part. Therefore, a string is searched in
/// its original form and after each step of unescaping. Each step is one pass over at most 4096 bytes. Letter case,
/// spaces, `+` and characters other than printable ASCII are ignored. Any eight consecutive characters of a long
/// credential are hidden.
package struct SecretMask: Sendable, Equatable, CustomStringConvertible, CustomReflectable {
    /// Up to eight normalized characters, none of which is zero, with the last one in the lowest byte.
    private typealias Window = UInt64

    /// The normalized byte strings that are searched for.
    private let needles: Set<[UInt8]>
    /// The parts of ``needles`` that are hidden even without the rest of the credential.
    private let parts: Set<Window>

    /// A mask that hides nothing.
    package static let none = SecretMask([])

    /// The replacement for hidden characters.
    private static let replacement = Array("***".utf8)
    /// The number of characters of a part of a credential, unless the whole credential is shorter.
    private static let partLength = Window.bitWidth / 8
    /// The minimum length of an encoded credential that is hidden inside a longer Base64 string.
    private static let minimumBase64Length = 6
    /// The maximum nesting depth of escapes.
    ///
    /// If it is exceeded, the whole string is hidden.
    private static let maximumDepth = 12
    /// The maximum number of bytes that are searched.
    ///
    /// Far fewer bytes are shown.
    private static let maximumSearchedLength = 4096

    /// Creates a mask for the given unencoded credentials.
    package init(_ secrets: [String]) {
        var needles: Set<[UInt8]> = []
        for secret in secrets.map({ Array($0.utf8) }) {
            var text: EscapedText? = EscapedText(secret)
            while let current = text {
                needles.insert(current.significantCharacters.map(\.value.lowercased))
                text = current.decoded()
            }
            needles.formUnion(Self.encodings(of: secret))
        }
        needles.remove([])
        self.needles = needles
        // The parts are a set, so that the order of the needles does not matter.
        parts = needles.reduce(into: []) { parts, needle in
            let length = min(needle.count, Self.partLength)
            for start in 0...needle.count - length {
                parts.insert(needle[start..<start + length].reduce(0) { $0 << 8 | Window($1) })
            }
        }
    }

    package var description: String { "\(needles.count) forms of credentials" }
    /// An empty mirror, so that `dump` does not print a secret.
    package var customMirror: Mirror { Mirror(self, children: []) }

    /// Returns the beginning of `text`, with credentials replaced by asterisks.
    func masked(_ text: some Collection<UInt8>, isTruncated: Bool = false) -> [UInt8] {
        let bytes = Array(text.prefix(Self.maximumSearchedLength))
        guard !needles.isEmpty else { return bytes }
        // At the end of a truncated string, even one character that begins a credential is hidden.
        let minimumPrefixLength = isTruncated || text.count > bytes.count ? 1 : 4
        // The number of hidden ranges that start at each offset, minus the number of those that end there.
        var changes = [Int](repeating: 0, count: bytes.count + 1)
        let original = EscapedText(bytes)
        hide(in: original, minimumPrefixLength, &changes)
        // Each notation is also decoded alone, because decoding several notations can produce a different string.
        for notations in [EscapedText.allNotations, "%", "\\", "&"] {
            var (text, depth) = (original, 0)
            while let decoded = text.decoded(notations) {
                if depth == Self.maximumDepth { return Self.replacement }
                hide(in: decoded, minimumPrefixLength, &changes)
                (text, depth) = (decoded, depth + 1)
            }
        }
        var output: [UInt8] = []
        var depth = 0
        for (byte, change) in zip(bytes, changes) {
            if depth == 0, change > 0 { output += Self.replacement }
            depth += change
            if depth == 0 { output.append(byte) }
        }
        return output
    }

    /// Adds the ranges of the original string that belong to credentials in a form of the string.
    private func hide(in text: EscapedText, _ minimumPrefixLength: Int, _ changes: inout [Int]) {
        func hide(_ start: Int, _ end: Int) {
            changes[start] += 1
            changes[end] -= 1
        }
        let characters = text.significantCharacters
        for last in characters.indices {
            var window: Window = 0
            for (length, character) in characters[...last].suffix(Self.partLength).reversed().enumerated() {
                window |= Window(character.value.lowercased) << (8 * length)
                if parts.contains(window) { hide(character.source.lowerBound, characters[last].source.upperBound) }
            }
        }
        // The end of a string can be the beginning of a credential, which an incomplete escape can follow.
        let end = changes.count - 1
        let longest = needles.lazy.map(\.count).max() ?? 0
        for limit in [text.startOfIncompleteEscape, end] {
            let tail = Array(characters.filter { $0.source.lowerBound < limit }.suffix(longest))
            let values = tail.map(\.value.lowercased)
            let start = tail.indices.first { start in needles.contains { $0.starts(with: values[start...]) } }
            if let start, tail.count - start >= minimumPrefixLength { hide(tail[start].source.lowerBound, end) }
        }
    }

    /// Returns the hexadecimal and Base64 forms of `bytes`, and the forms of `bytes` inside the Base64 of longer data.
    ///
    /// All forms are normalized. The Base64 of any data that contains `bytes` contains one of the last forms.
    private static func encodings(of bytes: [UInt8]) -> [[UInt8]] {
        let whole = base64(bytes).prefix { $0 != UInt8(ascii: "=") }
        let inner = (0..<3).map { offset in
            let padded = [UInt8](repeating: 0, count: offset) + bytes
            // The first and the last characters can also encode adjacent bits, and are omitted.
            return base64(padded).prefix(padded.count * 8 / 6).dropFirst((offset * 8 + 5) / 6)
        }
        let innerForms = inner.flatMap(inBothAlphabets).filter { $0.count >= minimumBase64Length }
        return [Array(bytes.hex.utf8)] + inBothAlphabets(whole) + innerForms
    }

    private static func base64(_ bytes: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        text.append(base64: bytes.span)
        return text
    }

    /// Returns the normalized forms of `text` in the standard alphabet and in the alphabet for URLs.
    private static func inBothAlphabets(_ text: ArraySlice<UInt8>) -> [[UInt8]] {
        let forURLs = [UInt8(ascii: "+"): UInt8(ascii: "-"), UInt8(ascii: "/"): UInt8(ascii: "_")]
        return [Array(text), text.map { forURLs[$0] ?? $0 }].map {
            EscapedText($0).significantCharacters.map(\.value.lowercased)
        }
    }
}

/// A string that can be unescaped in several steps.
///
/// A letter can occur as itself, as `%70`, `\u0070`, `&#112;`, or as a combination of these.
private struct EscapedText {
    /// A byte and the range in the original string from which it was decoded.
    typealias Character = (value: UInt8, source: Range<Int>)

    /// The first characters of the notations: percent-encoding, the escapes of JSON and programming languages, and
    /// the character references of HTML and XML.
    static let allNotations = "%\\&"

    private var characters: [Character]

    init(_ bytes: some Collection<UInt8>) {
        characters = bytes.enumerated().map { ($1, $0..<$0 + 1) }
    }

    /// The characters that are compared.
    ///
    /// Spaces are ignored, because they can be decoded `+` characters or line breaks.
    var significantCharacters: [Character] {
        characters.filter { (0x21..<0x7F).contains($0.value) && $0.value != UInt8(ascii: "+") }
    }

    /// Returns the string with each escape decoded once, or `nil` if it contains no escapes.
    ///
    /// Only the notations that begin with a character in `notations` are decoded.
    func decoded(_ notations: String = allNotations) -> EscapedText? {
        let bytes = characters.map(\.value)
        var decoded = EscapedText([])
        var index = 0
        while index < bytes.count {
            let isEscape = bytes[index].isOne(of: notations)
            let (value, end) = (isEscape ? Self.escape(at: bytes[index...]) : nil) ?? (bytes[index], index + 1)
            let source = characters[index].source.lowerBound..<characters[end - 1].source.upperBound
            decoded.characters.append((value, source))
            index = end
        }
        return decoded.characters.count < characters.count ? decoded : nil
    }

    /// The offset in the original string of an incomplete escape at the end, or the end if there is none.
    var startOfIncompleteEscape: Int {
        let tail = characters.suffix(12).map(\.value)
        let end = characters.last?.source.upperBound ?? 0
        guard let start = tail.lastIndex(where: { $0.isOne(of: Self.allNotations) }),
            Self.escape(at: tail[start...]) == nil
        else { return end }
        return characters[characters.count - tail.count + start].source.lowerBound
    }

    // MARK: Escapes

    /// The notations of characters as numbers, with the allowed numbers of digits.
    private static let numericEscapes: [(prefix: String, digits: ClosedRange<Int>, radix: UInt8, terminator: String)] =
        [
            ("%", 2...2, 16, ""), ("%u", 4...4, 16, ""), ("%U", 4...4, 16, ""),
            ("\\u", 4...4, 16, ""), ("\\U", 8...8, 16, ""), ("\\x", 2...2, 16, ""), ("\\X", 2...2, 16, ""),
            ("\\u{", 1...8, 16, "}"), ("\\U{", 1...8, 16, "}"), ("\\x{", 1...8, 16, "}"), ("\\X{", 1...8, 16, "}"),
            ("\\", 3...3, 8, ""), ("&#", 1...8, 10, ";"), ("&#x", 1...8, 16, ";"), ("&#X", 1...8, 16, ";"),
        ]
    private static let namedEscapes: [(name: String, value: Unicode.Scalar)] = [
        ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&sol;", "/"),
        ("&bsol;", "\\"), ("&plus;", "+"), ("&equals;", "="), ("&percnt;", "%"), ("&lowbar;", "_"), ("&period;", "."),
        ("&num;", "#"), ("\\a", " "), ("\\b", " "), ("\\f", " "), ("\\n", " "), ("\\r", " "), ("\\t", " "),
        ("\\v", " "),
    ]

    /// Returns the value and the end of the escape at the start of `text`, or `nil` if there is none.
    private static func escape(at text: ArraySlice<UInt8>) -> (value: UInt8, end: Int)? {
        for (prefix, digits, radix, terminator) in numericEscapes where text.starts(with: prefix.utf8) {
            let number = text.dropFirst(prefix.utf8.count).prefix(digits.upperBound)
                .prefix { ($0.hexadecimalValue ?? radix) < radix }
            guard number.count >= digits.lowerBound else { continue }
            let value = number.reduce(0) { $0 * Int(radix) + Int($1.hexadecimalValue ?? 0) }
            // Other than ASCII characters are represented by a byte that is not significant.
            let byte = UInt8(exactly: value).flatMap { $0 < 0x80 ? $0 : nil } ?? 0xFF
            let rest = text[number.endIndex...]
            if rest.starts(with: terminator.utf8) { return (byte, number.endIndex + terminator.utf8.count) }
            // The semicolon of a reference is optional, but the next bytes can be an escape for another digit.
            if terminator == ";", !(rest.first ?? 0).isOne(of: allNotations) { return (byte, number.endIndex) }
        }
        for (name, value) in namedEscapes where text.starts(with: name.utf8) {
            return (UInt8(ascii: value), text.startIndex + name.utf8.count)
        }
        // Before other characters, a backslash can become part of an escape when the bytes after it are decoded.
        guard text.first == UInt8(ascii: "\\"), let next = text.dropFirst().first, next < 0x80, !next.isLetter,
            !next.isDigit, !next.isOne(of: "%&")
        else { return nil }
        return (next, text.startIndex + 2)
    }
}
