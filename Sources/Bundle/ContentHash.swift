import Bytes
import Crypto

/// SHA-256 of a member's contents: 32 bytes without a place of their own in memory, ordered as their hexadecimal text is.
public struct ContentHash: Sendable, Hashable, Comparable {
    private let words: (UInt64, UInt64, UInt64, UInt64)

    /// Hashes contents.
    public init(of contents: [UInt8]) {
        self.init(SHA256.hash(data: contents))
    }

    /// Takes what was hashed piece by piece.
    public init(_ digest: SHA256.Digest) {
        words = digest.withUnsafeBytes { bytes in
            func word(_ number: Int) -> UInt64 {
                UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8 * number, as: UInt64.self))
            }
            return (word(0), word(1), word(2), word(3))
        }
    }

    /// Reads 64 digits in lower case; nil if it is anything else.
    public init?(hex: String) {
        var words: [UInt64] = [0, 0, 0, 0]
        guard hex.utf8.count == 64 else { return nil }
        for (position, digit) in hex.utf8.enumerated() {
            guard let value = digit.hexadecimalValue, digit == digit.lowercased else { return nil }
            words[position / 16] = words[position / 16] << 4 | UInt64(value)
        }
        self.words = (words[0], words[1], words[2], words[3])
    }

    /// 64 digits in lower case.
    public var hex: String {
        let words = [words.0, words.1, words.2, words.3]
        return (0..<32).lazy.map { UInt8(truncatingIfNeeded: words[$0 / 8] >> (56 - $0 % 8 * 8)) }.hex
    }

    /// Whether all 32 bytes are equal.
    public static func == (left: ContentHash, right: ContentHash) -> Bool { left.words == right.words }

    /// Whether it comes first, as its text does.
    public static func < (left: ContentHash, right: ContentHash) -> Bool { left.words < right.words }

    /// Feeds 16 of the bytes: they are as good as random.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(words.0)
        hasher.combine(words.1)
    }
}
