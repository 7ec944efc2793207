/// The key of a member, stored as UTF-8.
///
/// Creating a key allocates memory, so code that is executed often should store its keys in constants.
public struct JSONKey: Hashable, Sendable, ExpressibleByStringLiteral {
    /// The bytes of the key.
    public let utf8: [UInt8]
    /// The first bytes of the key, which suffice to distinguish most keys.
    public let start: KeyPrefix

    /// Creates a key from a string.
    public init(_ text: String) {
        let bytes = Array(text.utf8)
        utf8 = bytes
        start = KeyPrefix(bytes.span)
    }

    /// Creates a key from a literal.
    public init(stringLiteral text: String) {
        self.init(text)
    }
}

extension JSONKey: CustomStringConvertible {
    /// The key as a string.
    public var description: String { String(decoding: utf8, as: UTF8.self) }
}

/// The first 24 bytes of a key as numbers, which suffice to compare almost all keys.
///
/// The value contains no references, so sharing it between threads needs no reference counting.
public struct KeyPrefix: Hashable, Sendable {
    /// The first eight bytes, as returned by `prefixAsNumber`.
    let first: UInt64
    private let second: UInt64
    private let third: UInt64
    private let count: Int

    /// Creates the prefix of `key`.
    public init(_ key: Span<UInt8>) {
        first = key.prefixAsNumber
        second = key.count > 8 ? key.extracting(droppingFirst: 8).prefixAsNumber : 0
        third = key.count > 16 ? key.extracting(droppingFirst: 16).prefixAsNumber : 0
        count = key.count
    }

    /// Returns a negative number, 0 or a positive number if this key sorts before, is equal to, or sorts after `other`.
    ///
    /// Returns `nil` if the first 24 bytes do not decide the order.
    public func ordered(against other: KeyPrefix) -> Int? {
        if first != other.first { return first < other.first ? -1 : 1 }
        if second != other.second { return second < other.second ? -1 : 1 }
        if third != other.third { return third < other.third ? -1 : 1 }
        // Missing bytes are compared as zeros, so keys that differ only in trailing NUL bytes are ordered by length.
        return Swift.max(count, other.count) <= 24 ? count - other.count : nil
    }
}
