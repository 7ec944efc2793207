import Bytes

/// Hides credentials in what a server says, in whatever form the server repeats them.
///
/// A server may quote a key as it was sent or as it decoded it, in JSON, in an address or in a page, in upper case, or the
/// start of it alone. So a text is looked at as it stands and after each step of decoding; letter case, spaces, `+` and
/// what is not printable ASCII count for nothing. Of a long credential, any eight characters in a row are hidden.
package struct SecretMask: Sendable, Equatable, CustomStringConvertible, CustomReflectable {
    /// The texts that are looked for, folded.
    private let needles: [[UInt8]]
    /// The parts of needles, by their length, each as a number.
    private let parts: [Int: Set<UInt64>]

    /// A mask that hides nothing.
    package static let none = SecretMask([])

    /// The text that takes the place of what is hidden.
    static let stars = Array("***".utf8)
    /// How many characters of a credential in a row are too many to show; a number of 64 bits holds them.
    private static let partLength = 8
    /// The minimum number of characters that are hidden of the Base64 of a longer text that contains a credential.
    private static let leastDerived = 6
    /// How often escapes may be escaped. Of a text that goes further nothing is shown.
    private static let deepest = 12
    /// How much of a text is looked at, in bytes: far more than is shown.
    private static let longestText = 4096

    /// Prepares the forms in which texts of a server may repeat credentials.
    /// - Parameter secrets: what nobody may see, as it is before any encoding.
    package init(_ secrets: [String]) {
        var needles: Set<[UInt8]> = []
        for secret in secrets {
            let bytes = Array(secret.utf8)
            needles.insert(Self.folded(bytes))
            var text = EscapedText(bytes)
            while text.decode(.all) { needles.insert(Self.folded(text.bytes)) }
            needles.formUnion(Self.encodings(of: bytes).map(Self.folded))
            needles.formUnion(Self.base64(bytes).map(Self.folded).filter { $0.count >= Self.leastDerived })
        }
        needles.remove([])
        self.needles = needles.sorted { $0.lexicographicallyPrecedes($1) }
        var parts: [Int: Set<UInt64>] = [:]
        for needle in needles {
            let length = min(needle.count, Self.partLength)
            for start in 0...needle.count - length {
                parts[length, default: []].insert(needle[start..<start + length].reduce(0) { $0 << 8 | UInt64($1) })
            }
        }
        self.parts = parts
    }

    /// A fixed text, so that no print shows a secret.
    package var description: String { "\(needles.count) forms of credentials" }
    /// Shows nothing, so that no dump holds a secret.
    package var customMirror: Mirror { Mirror(self, children: []) }

    /// The start of a text of a server, with stars in the place of credentials. Whatever a server says passes here before
    /// anybody sees it.
    ///
    /// - Parameter isCut: whether the text has lost its end: the start of a credential there is hidden then, however short.
    func hiding(_ text: some Collection<UInt8>, isCut: Bool = false) -> [UInt8] {
        let bytes = Array(text.prefix(Self.longestText))
        guard !needles.isEmpty else { return bytes }
        let leastHead = isCut || text.count > bytes.count ? 1 : 4
        var isHidden = [Bool](repeating: false, count: bytes.count)
        // Each kind of escape also by itself: to one that decodes less, a text shows more.
        for escapes in [EscapedText.Escapes.all, .percent, .backslash, .entity] {
            var text = EscapedText(bytes)
            for depth in 0... {
                hide(in: text, leastHead, &isHidden)
                guard text.decode(escapes) else { break }
                if depth == Self.deepest { return Self.stars }
            }
        }
        return Self.starring(bytes, isHidden)
    }

    // MARK: Looking

    private func hide(in text: EscapedText, _ leastHead: Int, _ isHidden: inout [Bool]) {
        let kept = text.bytes.indices.filter { Self.counts(text.bytes[$0]) }
        let folded = kept.map { text.bytes[$0].lowercased }
        for (length, parts) in parts where folded.count >= length {
            let mask = length == 8 ? UInt64.max : (1 << UInt64(length * 8)) - 1
            var window: UInt64 = 0
            for (position, byte) in folded.enumerated() {
                window = (window << 8 | UInt64(byte)) & mask
                guard position + 1 >= length, parts.contains(window) else { continue }
                Self.hide(text, kept[position + 1 - length]...kept[position], &isHidden)
            }
        }
        let cut = text.startOfCutEscape()
        for end in Set([cut, text.bytes.count]) {
            let head = folded[..<kept.prefix { $0 < end }.count]
            let length = needles.map { Self.headLength(of: $0, endingIn: head) }.max() ?? 0
            guard length >= leastHead else { continue }
            Self.hide(text, kept[head.count - length]...text.bytes.count - 1, &isHidden)
        }
    }

    /// How many characters at the end of a text are the start of a needle.
    private static func headLength(of needle: [UInt8], endingIn text: ArraySlice<UInt8>) -> Int {
        for length in stride(from: min(needle.count, text.count), to: 0, by: -1)
        where text.suffix(length).elementsEqual(needle.prefix(length)) {
            return length
        }
        return 0
    }

    private static func hide(_ text: EscapedText, _ range: ClosedRange<Int>, _ isHidden: inout [Bool]) {
        let places = text.places[range.lowerBound].lowerBound..<text.places[range.upperBound].upperBound
        for place in places { isHidden[place] = true }
    }

    private static func starring(_ bytes: [UInt8], _ isHidden: [Bool]) -> [UInt8] {
        var output: [UInt8] = []
        for index in bytes.indices {
            if !isHidden[index] {
                output.append(bytes[index])
            } else if index == 0 || !isHidden[index - 1] {
                output.append(contentsOf: stars)
            }
        }
        return output
    }

    // MARK: Folding

    private static func folded(_ bytes: [UInt8]) -> [UInt8] { bytes.filter(counts).map(\.lowercased) }

    /// Whether a byte tells credentials apart: a space can stand for `+`, and both can come of breaking lines.
    private static func counts(_ byte: UInt8) -> Bool {
        (0x21..<0x7F).contains(byte) && byte != UInt8(ascii: "+")
    }

    // MARK: Other forms

    /// Returns the hexadecimal form of `bytes`, and the Base64 of `bytes` alone in both alphabets, without padding.
    private static func encodings(of bytes: [UInt8]) -> [[UInt8]] {
        var encoded: [UInt8] = []
        encoded.append(base64: bytes.span)
        let text = Array(encoded.prefix { $0 != UInt8(ascii: "=") })
        return [Array(bytes.hex.utf8), text, text.map(inAddressAlphabet)]
    }

    /// The texts of which one is in the Base64 of every text that holds these bytes, wherever they stand; in both alphabets.
    private static func base64(_ bytes: [UInt8]) -> [[UInt8]] {
        (0..<3).flatMap { offset -> [[UInt8]] in
            let padded = [UInt8](repeating: 0, count: offset) + bytes
            var encoded: [UInt8] = []
            encoded.append(base64: padded.span)
            let whole = encoded.prefix(padded.count * 8 / 6)
            // A character that also holds bits of what stands before says nothing.
            let text = Array(whole.dropFirst((offset * 8 + 5) / 6))
            return [text, text.map(inAddressAlphabet)]
        }
    }

    private static func inAddressAlphabet(_ byte: UInt8) -> UInt8 {
        switch byte {
        case UInt8(ascii: "+"): UInt8(ascii: "-")
        case UInt8(ascii: "/"): UInt8(ascii: "_")
        default: byte
        }
    }
}
