import Bytes
import CNettle

/// An incremental SHA-256 computation.
///
/// ```swift
/// var hash = SHA256()
/// hash.update(header.span)
/// hash.update(body.span)
/// let digest = hash.finalize()
/// ```
///
/// Source: FIPS 180-4.
public struct SHA256: Sendable {
    private var context = sha256_ctx()

    /// Creates a computation to which no bytes were appended yet.
    public init() {
        nettle_sha256_init(&context)
    }

    /// Appends `bytes` to the hashed data.
    public mutating func update(_ bytes: Span<UInt8>) {
        bytes.withUnsafeBufferPointer { nettle_sha256_update(&context, $0.count, $0.baseAddress) }
    }

    /// Returns the digest of all bytes so far.
    ///
    /// More bytes may be appended afterwards.
    public func finalize() -> ContentHash {
        // The library resets the context when it computes the digest.
        var copy = context
        var digest = InlineArray<32, UInt8>(repeating: 0)
        var span = digest.mutableSpan
        span.withUnsafeMutableBufferPointer { nettle_sha256_digest(&copy, $0.count, $0.baseAddress) }
        return ContentHash(digest.span)
    }

    /// Returns the digest of `bytes`.
    public static func hash(_ bytes: Span<UInt8>) -> ContentHash {
        var hash = SHA256()
        hash.update(bytes)
        return hash.finalize()
    }
}

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

/// An incremental HMAC-SHA-256 computation.
///
/// A copy continues from the state of its original, so that a key and a common prefix are processed only once.
///
/// Source: RFC 2104.
public struct HMACSHA256: Sendable {
    private var context = hmac_sha256_ctx()

    /// Creates a computation with `key` and an empty message.
    public init(key: Span<UInt8>) {
        key.withUnsafeBufferPointer { nettle_hmac_sha256_set_key(&context, $0.count, $0.baseAddress) }
    }

    /// Appends `bytes` to the authenticated message.
    public mutating func update(_ bytes: Span<UInt8>) {
        bytes.withUnsafeBufferPointer { nettle_hmac_sha256_update(&context, $0.count, $0.baseAddress) }
    }

    /// Returns the 32-byte authentication code of all bytes so far.
    ///
    /// More bytes may be appended afterwards.
    public func finalize() -> [UInt8] {
        // The library resets the context when it computes the code.
        var copy = context
        return [UInt8](unsafeUninitializedCapacity: Int(SHA256_DIGEST_SIZE)) { buffer, count in
            count = buffer.count
            nettle_hmac_sha256_digest(&copy, count, buffer.baseAddress)
        }
    }
}

/// An incremental SHA-1 computation, for formats that prescribe SHA-1 although it is not secure.
///
/// Source: FIPS 180-4.
public struct SHA1: Sendable {
    private var context = sha1_ctx()

    /// Creates a computation to which no bytes were appended yet.
    public init() {
        nettle_sha1_init(&context)
    }

    /// Appends `bytes` to the hashed data.
    public mutating func update(_ bytes: Span<UInt8>) {
        bytes.withUnsafeBufferPointer { nettle_sha1_update(&context, $0.count, $0.baseAddress) }
    }

    /// Returns the 20-byte digest of all bytes so far.
    ///
    /// More bytes may be appended afterwards.
    public func finalize() -> [UInt8] {
        // The library resets the context when it computes the digest.
        var copy = context
        return [UInt8](unsafeUninitializedCapacity: Int(SHA1_DIGEST_SIZE)) { buffer, count in
            count = buffer.count
            nettle_sha1_digest(&copy, count, buffer.baseAddress)
        }
    }
}
