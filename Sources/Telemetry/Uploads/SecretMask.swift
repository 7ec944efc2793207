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
