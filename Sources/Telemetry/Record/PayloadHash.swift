import Bytes
import Hashing

/// SHA-256 hashes of canonical bytes.
public enum PayloadHash {
    /// Returns an id that consists of `sha256:` and the hash of `payload`, for systems that define no id.
    public static func id(of payload: [UInt8]) -> String { "sha256:" + hex(of: payload) }

    /// Returns the hash in lowercase hexadecimal.
    public static func hex(of bytes: [UInt8]) -> String { ContentHash(of: bytes).hex }
}

/// The first half of the SHA-256 hash of a payload or an event, for use as a dictionary key.
package struct PayloadDigest: Hashable, Sendable {
    private let high: UInt64
    private let low: UInt64

    package init(_ bytes: ArraySlice<UInt8>) { (high, low) = SHA256.hash(bytes.span).leadingWords }
}
