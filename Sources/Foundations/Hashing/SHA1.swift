import CNettle

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
