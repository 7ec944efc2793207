/// A key to look members up by, kept as UTF-8.
///
/// Making one allocates: the hot path keeps its keys in constants.
public struct JSONKey: Hashable, Sendable, ExpressibleByStringLiteral {
    /// The bytes of the key.
    public let utf8: [UInt8]
    /// The start of the key, by which most keys can be told apart.
    public let start: KeyStart

    /// Makes a key from a string.
    public init(_ text: String) {
        let bytes = Array(text.utf8)
        utf8 = bytes
        start = KeyStart(bytes.span)
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

/// The first 24 bytes of a key as numbers: a value without references, which threads can share at no cost, and which says
/// all of nearly every key.
public struct KeyStart: Hashable, Sendable {
    /// The first eight bytes, see `prefixAsNumber`.
    let first: UInt64
    private let second: UInt64
    private let third: UInt64
    private let count: Int

    /// Takes the start of a key.
    public init(_ key: Span<UInt8>) {
        first = key.prefixAsNumber
        second = key.count > 8 ? key.extracting(droppingFirst: 8).prefixAsNumber : 0
        third = key.count > 16 ? key.extracting(droppingFirst: 16).prefixAsNumber : 0
        count = key.count
    }

    /// Less than, equal to or greater than 0, as this key sorts before, with or after another; nil if what lies behind
    /// the starts decides.
    public func ordered(against other: KeyStart) -> Int? {
        if first != other.first { return first < other.first ? -1 : 1 }
        if second != other.second { return second < other.second ? -1 : 1 }
        if third != other.third { return third < other.third ? -1 : 1 }
        // Missing bytes count as zero, so that a shorter key comes first only now.
        return Swift.max(count, other.count) <= 24 ? count - other.count : nil
    }
}
