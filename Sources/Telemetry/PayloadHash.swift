import Crypto

/// SHA-256 over canonical bytes.
public enum PayloadHash {
    /// The id of a record whose system gives it none: `sha256:` and the hash of its payload.
    public static func id(of payload: [UInt8]) -> String {
        "sha256:" + hex(of: payload)
    }

    /// The hash in lower-case hexadecimal.
    public static func hex(of bytes: [UInt8]) -> String {
        SHA256.hash(data: bytes).hex
    }
}

extension Sequence<UInt8> {
    /// The bytes in lower-case hexadecimal.
    public var hex: String {
        var text: [UInt8] = []
        for byte in self {
            for digit in [byte >> 4, byte & 0xF] {
                text.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
