import Bytes
import Hashing
import JSONText

/// A key that pseudonyms are made with. Printing it shows its id alone.
///
/// ```swift
/// let key = try PseudonymKey(bytes)
/// let pseudonym = key.pseudonym(of: Array("B4C8F3A0-5E1D-4A6B-9C27-0D3E8F1A5B62".utf8), .client)
/// ```
///
/// Source: "Pseudonyms".
public struct PseudonymKey: Sendable, CustomStringConvertible, CustomReflectable {
    /// The fewest bytes of a key.
    public static let fewestBytes = 32

    /// What the key is known by: 8 hexadecimal digits, of which nobody learns the key.
    public let id: String
    private let code: HMACSHA256

    /// Makes a key of all bytes of its file.
    /// - Throws: ``PseudonymError/shortKey(_:)``.
    public init(_ bytes: [UInt8]) throws(PseudonymError) {
        guard bytes.count >= Self.fewestBytes else { throw .shortKey(bytes.count) }
        code = HMACSHA256(key: bytes.span)
        var hash = SHA256()
        hash.update("pingferry key id\0".utf8.span)
        hash.update(bytes.span)
        id = String(hash.finalize().hex.prefix(8))
    }

    /// The id of the key.
    public var description: String { "pseudonym key \(id)" }

    /// Shows nothing, so that no dump holds the key.
    public var customMirror: Mirror { Mirror(self, children: []) }

    /// The pseudonym of a value: the first 128 bits of HMAC-SHA-256 over the name of the class, a zero byte and the value.
    ///
    /// A UUID is taken without its letter case, and its pseudonym is a UUID of version 8 in lower case. That of any other value
    /// is 32 hexadecimal digits.
    public func pseudonym(of value: [UInt8], _ kind: PseudonymClass) -> [UInt8] {
        pseudonym(of: value, from: start(of: kind))
    }

    /// What all pseudonyms of a class begin with: a code that has taken the key, the name of the class and a zero byte.
    struct Start: Sendable {
        fileprivate let code: HMACSHA256
    }

    /// The start of the pseudonyms of a class. A key is taken in once, whatever the number of values.
    func start(of kind: PseudonymClass) -> Start {
        var code = code
        code.update((Array(kind.name.utf8) + [0]).span)
        return Start(code: code)
    }

    /// The pseudonym of a value of the class that a start is of.
    func pseudonym(of value: [UInt8], from start: Start) -> [UInt8] {
        let isUUID = value.span.isUUID
        var code = start.code
        code.update((isUUID ? value.map(\.lowercased) : value).span)
        let bits = Array(code.finalize().prefix(16))
        return Array((isUUID ? UUIDText.text(of: bits, version: 8) : bits.hex).utf8)
    }
}

/// Why pseudonyms cannot be made.
public enum PseudonymError: Error, Sendable, Equatable {
    /// A key of fewer bytes than it needs; how many it has.
    case shortKey(Int)
    /// A record has pseudonyms of another key; the ids of that key, where it is told, and of the one that was given.
    case otherKey(String?, given: String)
    /// A record is of a system that no rules are known of.
    case unknownSystem(String)
}
