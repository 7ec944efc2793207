import CNettle

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
