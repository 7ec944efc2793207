import Bytes

/// A mask that hides credentials in strings from a server, even if they are encoded or truncated.
///
/// A server can repeat a key in JSON, in a URL, in HTML, in uppercase or in part. Therefore, a string is searched in
/// its original form and after each step of unescaping. Letter case, spaces, `+` and characters other than printable
/// ASCII are ignored. Any eight consecutive characters of a long credential are hidden.
package struct SecretMask: Sendable, Equatable, CustomStringConvertible, CustomReflectable {
    /// The normalized byte strings that are searched for.
    private let needles: [[UInt8]]
    /// The substrings of ``needles``, grouped by length.
    ///
    /// Each substring is packed into an integer.
    private let parts: [Int: Set<UInt64>]

    /// A mask that hides nothing.
    package static let none = SecretMask([])

    /// The replacement for hidden characters.
    static let replacement = Array("***".utf8)
    /// The number of consecutive characters of a credential that are hidden even without the rest of the credential.
    ///
    /// This many characters fit into a 64-bit integer.
    private static let substringLength = 8
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
        for secret in secrets {
            let bytes = Array(secret.utf8)
            needles.insert(Self.normalized(bytes))
            var text = EscapedText(bytes)
            while text.decode(.all) { needles.insert(Self.normalized(text.bytes)) }
            needles.formUnion(Self.encodings(of: bytes).map(Self.normalized))
            needles.formUnion(Self.base64(bytes).map(Self.normalized).filter { $0.count >= Self.minimumBase64Length })
        }
        needles.remove([])
        self.needles = needles.sorted { $0.lexicographicallyPrecedes($1) }
        var parts: [Int: Set<UInt64>] = [:]
        // The parts are sets, so that the order of the needles does not matter.
        for needle in needles {
            let length = min(needle.count, Self.substringLength)
            for start in 0...needle.count - length {
                parts[length, default: []].insert(needle[start..<start + length].reduce(0) { $0 << 8 | UInt64($1) })
            }
        }
        self.parts = parts
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
        var isHidden = [Bool](repeating: false, count: bytes.count)
        // Each notation is also decoded alone, because decoding several notations can produce a different string.
        for escapes in [EscapedText.Escapes.all, .percent, .backslash, .entity] {
            var text = EscapedText(bytes)
            for depth in 0... {
                hide(in: text, minimumPrefixLength, &isHidden)
                guard text.decode(escapes) else { break }
                if depth == Self.maximumDepth { return Self.replacement }
            }
        }
        return Self.masking(bytes, isHidden)
    }

    // MARK: Looking

    private func hide(in text: EscapedText, _ minimumPrefixLength: Int, _ isHidden: inout [Bool]) {
        let significant = text.bytes.indices.filter { Self.isSignificant(text.bytes[$0]) }
        let normalized = significant.map { text.bytes[$0].lowercased }
        for (length, parts) in parts where normalized.count >= length {
            let mask = length == 8 ? UInt64.max : (1 << UInt64(length * 8)) - 1
            var window: UInt64 = 0
            for (position, byte) in normalized.enumerated() {
                window = (window << 8 | UInt64(byte)) & mask
                guard position + 1 >= length, parts.contains(window) else { continue }
                Self.hide(text, significant[position + 1 - length]...significant[position], &isHidden)
            }
        }
        let cut = text.startOfIncompleteEscape()
        for end in Set([cut, text.bytes.count]) {
            let head = normalized[..<significant.prefix { $0 < end }.count]
            let length = needles.map { Self.prefixLength(of: $0, endingIn: head) }.max() ?? 0
            guard length >= minimumPrefixLength else { continue }
            Self.hide(text, significant[head.count - length]...text.bytes.count - 1, &isHidden)
        }
    }

    /// Returns the length of the longest suffix of `text` that is a prefix of `needle`.
    private static func prefixLength(of needle: [UInt8], endingIn text: ArraySlice<UInt8>) -> Int {
        for length in stride(from: min(needle.count, text.count), to: 0, by: -1)
        where text.suffix(length).elementsEqual(needle.prefix(length)) {
            return length
        }
        return 0
    }

    private static func hide(_ text: EscapedText, _ range: ClosedRange<Int>, _ isHidden: inout [Bool]) {
        let (start, end) = (
            text.sourceRanges[range.lowerBound].lowerBound, text.sourceRanges[range.upperBound].upperBound
        )
        for index in start..<end { isHidden[index] = true }
    }

    private static func masking(_ bytes: [UInt8], _ isHidden: [Bool]) -> [UInt8] {
        var output: [UInt8] = []
        for index in bytes.indices {
            if !isHidden[index] {
                output.append(bytes[index])
            } else if index == 0 || !isHidden[index - 1] {
                output.append(contentsOf: replacement)
            }
        }
        return output
    }

    // MARK: Folding

    private static func normalized(_ bytes: [UInt8]) -> [UInt8] { bytes.filter(isSignificant).map(\.lowercased) }

    // Spaces are ignored, because they can be decoded `+` characters or line breaks.
    private static func isSignificant(_ byte: UInt8) -> Bool {
        (0x21..<0x7F).contains(byte) && byte != UInt8(ascii: "+")
    }

    // MARK: Other forms

    /// Returns the hexadecimal form of `bytes` and its Base64 forms in both alphabets, without padding.
    private static func encodings(of bytes: [UInt8]) -> [[UInt8]] {
        var encoded: [UInt8] = []
        encoded.append(base64: bytes.span)
        let text = Array(encoded.prefix { $0 != UInt8(ascii: "=") })
        return [Array(bytes.hex.utf8), text, text.map(inURLAlphabet)]
    }

    /// Returns the strings that can represent `bytes` inside the Base64 form of longer data.
    ///
    /// The Base64 form of any data that contains `bytes` contains one of these strings.
    private static func base64(_ bytes: [UInt8]) -> [[UInt8]] {
        (0..<3).flatMap { offset -> [[UInt8]] in
            let padded = [UInt8](repeating: 0, count: offset) + bytes
            var encoded: [UInt8] = []
            encoded.append(base64: padded.span)
            let whole = encoded.prefix(padded.count * 8 / 6)
            // The first characters are dropped because they also encode preceding bits.
            let text = Array(whole.dropFirst((offset * 8 + 5) / 6))
            return [text, text.map(inURLAlphabet)]
        }
    }

    private static func inURLAlphabet(_ byte: UInt8) -> UInt8 {
        switch byte {
        case UInt8(ascii: "+"): UInt8(ascii: "-")
        case UInt8(ascii: "/"): UInt8(ascii: "_")
        default: byte
        }
    }
}

/// A string that can be unescaped in several steps.
///
/// The position of each byte in the original string is preserved.
///
/// A letter can occur as itself, as `%70`, `\u0070`, `&#112;`, or as a combination of these.
private struct EscapedText {
    /// The escape notations to decode.
    struct Escapes: OptionSet {
        let rawValue: Int
        /// Percent-encoding: `%70` and `%u0070`.
        static let percent = Escapes(rawValue: 1)
        /// Backslash escapes in JSON and programming languages: `\u0070`, `\u{70}`, `\U00000070`, `\x70`, `\160` and
        /// `\/`.
        static let backslash = Escapes(rawValue: 2)
        /// Character references in HTML and XML: `&#112;`, `&#x70;` and `&amp;`.
        static let entity = Escapes(rawValue: 4)
        static let all: Escapes = [.percent, .backslash, .entity]
    }

    /// The bytes of the string after all previous decoding steps.
    private(set) var bytes: [UInt8]
    /// The range in the original string that each byte of ``bytes`` was decoded from.
    private(set) var sourceRanges: [Range<Int>]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        sourceRanges = bytes.indices.map { $0..<$0 + 1 }
    }

    /// Decodes each escape once.
    ///
    /// Returns whether the string contained any escapes.
    mutating func decode(_ escapes: Escapes) -> Bool {
        var (decoded, from): ([UInt8], [Range<Int>]) = ([], [])
        decoded.reserveCapacity(bytes.count)
        from.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            let (value, length) = escape(at: index, escapes) ?? (bytes[index], 1)
            decoded.append(value)
            from.append(sourceRanges[index].lowerBound..<sourceRanges[index + length - 1].upperBound)
            index += length
        }
        guard decoded.count < bytes.count else { return false }
        (bytes, sourceRanges) = (decoded, from)
        return true
    }

    /// Returns the index of an incomplete escape at the end of the string, or the end index if there is none.
    func startOfIncompleteEscape() -> Int {
        let longest = 12
        for index in bytes.indices.suffix(longest).reversed() where "%\\&".utf8.contains(bytes[index]) {
            return escape(at: index, .all) == nil ? index : bytes.count
        }
        return bytes.count
    }

    // MARK: Escapes

    private func escape(at index: Int, _ escapes: Escapes) -> (value: UInt8, length: Int)? {
        switch bytes[index] {
        case UInt8(ascii: "%") where escapes.contains(.percent):
            if let value = hex(index + 1, 2) { return (value, 3) }
            guard byte(index + 1).map({ $0 | 0x20 }) == UInt8(ascii: "u") else { return nil }
            return hex(index + 2, 4).map { ($0, 6) }
        case UInt8(ascii: "\\") where escapes.contains(.backslash): return backslash(at: index)
        case UInt8(ascii: "&") where escapes.contains(.entity): return entity(at: index)
        default: return nil
        }
    }

    private func backslash(at index: Int) -> (value: UInt8, length: Int)? {
        guard let next = byte(index + 1) else { return nil }
        switch next {
        case UInt8(ascii: "u"), UInt8(ascii: "U"), UInt8(ascii: "x"), UInt8(ascii: "X"):
            if byte(index + 2) == UInt8(ascii: "{") { return braced(at: index) }
            let digits = next == UInt8(ascii: "u") ? 4 : next == UInt8(ascii: "U") ? 8 : 2
            return hex(index + 2, digits).map { ($0, 2 + digits) }
        case UInt8(ascii: "0")...UInt8(ascii: "7"):
            return number(index + 1, digits: 3...3, radix: 8).map { ($0.value, 4) }
        case UInt8(ascii: "a"), UInt8(ascii: "b"), UInt8(ascii: "f"), UInt8(ascii: "n"), UInt8(ascii: "r"),
            UInt8(ascii: "t"), UInt8(ascii: "v"):
            return (UInt8(ascii: " "), 2)
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "8"),
            UInt8(ascii: "9"), UInt8(ascii: "%"), UInt8(ascii: "&"), 0x80...:
            // The escape may become complete when the bytes after it are decoded, because they can be escaped
            // themselves.
            return nil
        default: return (next, 2)
        }
    }

    /// Decodes an escape such as `\u{70}`, or returns `nil` if the escape is incomplete or malformed.
    private func braced(at index: Int) -> (value: UInt8, length: Int)? {
        guard let (value, digits) = number(index + 3, digits: 1...8, radix: 16),
            byte(index + 3 + digits) == UInt8(ascii: "}")
        else { return nil }
        return (value, 4 + digits)
    }

    private func entity(at index: Int) -> (value: UInt8, length: Int)? {
        if byte(index + 1) == UInt8(ascii: "#") {
            let isHex = byte(index + 2).map { $0 | 0x20 } == UInt8(ascii: "x")
            let start = index + (isHex ? 3 : 2)
            guard let (value, digits) = number(start, digits: 1...8, radix: isHex ? 16 : 10) else { return nil }
            let end = start + digits
            switch byte(end) {
            case UInt8(ascii: ";"): return (value, end + 1 - index)
            // The number may continue, because the next bytes can be an escape for another digit.
            case UInt8(ascii: "%"), UInt8(ascii: "&"), UInt8(ascii: "\\"): return nil
            default: return (value, end - index)
            }
        }
        for (name, value) in Self.names where bytes[(index + 1)...].starts(with: name.utf8) {
            return (UInt8(ascii: value), 1 + name.utf8.count)
        }
        return nil
    }

    private static let names: [(String, Unicode.Scalar)] = [
        ("amp;", "&"), ("lt;", "<"), ("gt;", ">"), ("quot;", "\""), ("apos;", "'"), ("sol;", "/"), ("bsol;", "\\"),
        ("plus;", "+"), ("equals;", "="), ("percnt;", "%"), ("lowbar;", "_"), ("period;", "."), ("num;", "#"),
    ]

    private func byte(_ index: Int) -> UInt8? { index < bytes.count ? bytes[index] : nil }

    private func hex(_ index: Int, _ digits: Int) -> UInt8? { number(index, digits: digits...digits, radix: 16)?.value }

    /// Reads the number at `index`, and returns its value and its number of digits.
    ///
    /// The value is 0xFF if the number is not the code of an ASCII character. Returns `nil` if there are too few
    /// digits.
    private func number(_ index: Int, digits: ClosedRange<Int>, radix: Int) -> (value: UInt8, digits: Int)? {
        var (value, count) = (0, 0)
        while count < digits.upperBound, let digit = byte(index + count)?.hexadecimalValue, digit < radix {
            value = value * radix + Int(digit)
            count += 1
        }
        guard count >= digits.lowerBound else { return nil }
        return (value < 0x80 ? UInt8(value) : 0xFF, count)
    }
}
