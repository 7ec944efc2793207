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
