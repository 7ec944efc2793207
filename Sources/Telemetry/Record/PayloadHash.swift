import Bytes
import Hashing

/// SHA-256 over canonical bytes.
public enum PayloadHash {
    /// The id of a record whose system gives it none: `sha256:` and the hash of its payload.
    public static func id(of payload: [UInt8]) -> String {
        "sha256:" + hex(of: payload)
    }

    /// The hash in lower-case hexadecimal.
    public static func hex(of bytes: [UInt8]) -> String {
        ContentHash(of: bytes).hex
    }
}

/// The first half of a SHA-256, which stands for a payload, or for an event of one, in a table.
package struct PayloadDigest: Hashable, Sendable {
    private let high: UInt64
    private let low: UInt64

    /// Hashes canonical bytes.
    package init(_ bytes: ArraySlice<UInt8>) {
        (high, low) = SHA256.hash(bytes.span).leadingWords
    }
}
