import Bytes

/// A SHA-256 digest.
///
/// Digests have the same order as their hexadecimal strings.
public struct ContentHash: Sendable, Hashable, Comparable {
    /// The digest as four big-endian words, which require no heap allocation.
    private let words: (UInt64, UInt64, UInt64, UInt64)

    /// Computes the digest of `contents`.
    public init(of contents: [UInt8]) {
        self = SHA256.hash(contents.span)
    }

    /// Creates a digest from its 32 bytes.
    init(_ digest: Span<UInt8>) {
        func word(_ index: Int) -> UInt64 {
            (8 * index..<8 * index + 8).reduce(0) { $0 << 8 | UInt64(digest[$1]) }
        }
        words = (word(0), word(1), word(2), word(3))
    }

    /// Parses 64 lowercase hexadecimal digits, or returns `nil` for any other string.
    public init?(hex: String) {
        var words: [UInt64] = [0, 0, 0, 0]
        guard hex.utf8.count == 64 else { return nil }
        for (position, digit) in hex.utf8.enumerated() {
            guard let value = digit.hexadecimalValue, digit == digit.lowercased else { return nil }
            words[position / 16] = words[position / 16] << 4 | UInt64(value)
        }
        self.words = (words[0], words[1], words[2], words[3])
    }

    /// The 32 bytes of the digest.
    public var bytes: [UInt8] {
        let words = [words.0, words.1, words.2, words.3]
        return (0..<32).map { UInt8(truncatingIfNeeded: words[$0 / 8] >> (56 - $0 % 8 * 8)) }
    }

    /// The digest as 64 lowercase hexadecimal digits.
    public var hex: String { bytes.hex }

    /// The first 16 bytes of the digest as two big-endian words.
    public var leadingWords: (high: UInt64, low: UInt64) { (words.0, words.1) }

    /// Returns whether two digests are equal.
    public static func == (left: ContentHash, right: ContentHash) -> Bool { left.words == right.words }

    /// Returns whether `left` sorts before `right`.
    public static func < (left: ContentHash, right: ContentHash) -> Bool { left.words < right.words }

    /// Feeds the first 16 bytes of the digest to `hasher`.
    ///
    /// These bytes suffice, because the bytes of a digest are uniformly distributed.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(words.0)
        hasher.combine(words.1)
    }
}
