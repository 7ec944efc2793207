/// A key to look members up by, kept as UTF-8.
///
/// Making one allocates: the hot path keeps its keys in constants.
public struct JSONKey: Hashable, Sendable, ExpressibleByStringLiteral {
    /// The bytes of the key.
    public let utf8: [UInt8]
    /// The start of the key as a number, which tells most keys apart.
    public let prefix: UInt64

    /// Makes a key from a string.
    public init(_ text: String) {
        let bytes = Array(text.utf8)
        utf8 = bytes
        prefix = bytes.span.prefixAsNumber
    }

    /// Makes a key from a literal.
    public init(stringLiteral text: String) {
        self.init(text)
    }
}

extension JSONKey: CustomStringConvertible {
    /// The key as text.
    public var description: String { String(decoding: utf8, as: UTF8.self) }
}
