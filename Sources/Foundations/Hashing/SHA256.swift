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

    /// Appends the number of `bytes`, as 8 bytes in little-endian order, and then `bytes`.
    ///
    /// The number separates consecutive strings, which can contain any bytes.
    public mutating func update(lengthPrefixed bytes: Span<UInt8>) {
        let count = InlineArray<8, UInt8> { UInt8(truncatingIfNeeded: bytes.count >> (8 * $0)) }
        update(count.span)
        update(bytes)
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
        return ContentHash(digest.span.bytes)
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
    /// The first 16 bytes of the digest.
    fileprivate let start: Digest16
    /// The last 16 bytes of the digest.
    private let end: Digest16

    /// Computes the digest of `contents`.
    public init(of contents: [UInt8]) {
        self = SHA256.hash(contents.span)
    }

    /// Creates a digest from its 32 bytes.
    init(_ digest: RawSpan) {
        start = Digest16(digest)
        end = Digest16(digest, at: 16)
    }

    /// Parses 64 lowercase hexadecimal digits, or returns `nil` for any other string.
    public init?(hex: String) {
        var words: [UInt64] = [0, 0, 0, 0]
        guard hex.utf8.count == 64 else { return nil }
        for (position, digit) in hex.utf8.enumerated() {
            guard let value = digit.hexadecimalValue, digit == digit.lowercased else { return nil }
            words[position / 16] = words[position / 16] << 4 | UInt64(value)
        }
        start = Digest16(high: words[0], low: words[1])
        end = Digest16(high: words[2], low: words[3])
    }

    /// The 32 bytes of the digest.
    public var bytes: [UInt8] {
        let words = [start.high, start.low, end.high, end.low]
        return (0..<32).map { UInt8(truncatingIfNeeded: words[$0 / 8] >> (56 - $0 % 8 * 8)) }
    }

    /// The digest as 64 lowercase hexadecimal digits.
    public var hex: String { bytes.hex }

    /// Returns whether `left` sorts before `right`.
    public static func < (left: ContentHash, right: ContentHash) -> Bool {
        (left.start, left.end) < (right.start, right.end)
    }
}

/// The first 16 bytes of a SHA-256 digest, for use as a key.
///
/// Finding an input with a given digest takes 2¹²⁸ attempts. Finding two inputs with the same digest takes 2⁶⁴ attempts,
/// but only the author of both inputs can do so, and only these two inputs would then be confused.
public struct Digest16: Sendable, Hashable, Comparable {
    /// The first 8 bytes, in big-endian order.
    public let high: UInt64
    /// The last 8 bytes, in big-endian order.
    public let low: UInt64

    /// Creates a digest from its words.
    package init(high: UInt64, low: UInt64) {
        (self.high, self.low) = (high, low)
    }

    /// Creates the digest of all bytes that were appended to `hash`.
    public init(_ hash: SHA256) { self = hash.finalize().start }

    /// Computes the digest of `contents`.
    public init(of contents: Span<UInt8>) {
        var hash = SHA256()
        hash.update(contents)
        self.init(hash)
    }

    /// Creates a digest from the 16 bytes of `bytes` at `offset`.
    public init(_ bytes: RawSpan, at offset: Int = 0) {
        high = UInt64(bigEndian: bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
        low = UInt64(bigEndian: bytes.unsafeLoadUnaligned(fromByteOffset: offset + 8, as: UInt64.self))
    }

    /// The 16 bytes of the digest.
    public var bytes: InlineArray<16, UInt8> {
        InlineArray { UInt8(truncatingIfNeeded: ($0 < 8 ? high : low) >> (56 - $0 % 8 * 8)) }
    }

    /// Returns whether the bytes of `left` sort before the bytes of `right`.
    public static func < (left: Digest16, right: Digest16) -> Bool {
        (left.high, left.low) < (right.high, right.low)
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

/// The SHA-1 hash function, for formats that prescribe it although it is not secure.
///
/// Source: FIPS 180-4.
public enum SHA1 {
    /// Returns the 20-byte digest of `bytes`.
    public static func hash(_ bytes: [UInt8]) -> [UInt8] {
        var context = sha1_ctx()
        nettle_sha1_init(&context)
        nettle_sha1_update(&context, bytes.count, bytes)
        return [UInt8](unsafeUninitializedCapacity: Int(SHA1_DIGEST_SIZE)) { buffer, count in
            count = buffer.count
            nettle_sha1_digest(&context, count, buffer.baseAddress)
        }
    }
}
