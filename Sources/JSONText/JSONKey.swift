/// A key to look members up by, kept as UTF-8.
public struct JSONKey: Hashable, Sendable, ExpressibleByStringLiteral {
    /// The bytes of the key.
    public let utf8: [UInt8]

    /// Makes a key from a string.
    public init(_ text: String) {
        utf8 = Array(text.utf8)
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
