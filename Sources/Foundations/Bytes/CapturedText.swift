/// Text from a capture, whose equality, hash and order are those of its UTF-8 bytes.
///
/// A `String` is equal to another string with canonically equivalent characters, so that a set of strings could contain
/// one of two different spellings, depending on the random hash seed of the process. Servers and file systems
/// distinguish such spellings. Captured text that is compared, sorted or used as a key is therefore of this type.
///
/// ```swift
/// let composed: CapturedText = "caf\u{E9}"
/// let decomposed: CapturedText = "cafe\u{301}"
/// let areEqual = composed == decomposed  // false
/// ```
///
/// As a property wrapper, it gives a structure with a property of type `String` the same equality and hash:
///
/// ```swift
/// struct Kind: Hashable {
///     @CapturedText var type: String
/// }
/// ```
@propertyWrapper
public struct CapturedText: Sendable {
    /// The text as a string, which must not be compared with other strings.
    public var string: String

    /// Creates captured text from a string.
    public init(_ string: String) { self.string = string }

    /// Creates the wrapper of a property from its value.
    public init(wrappedValue: String) { string = wrappedValue }

    /// The value of the wrapped property.
    public var wrappedValue: String {
        get { string }
        set { string = newValue }
    }

    /// Creates captured text from a part of a string.
    public init(_ part: Substring) { string = String(part) }

    /// Creates captured text from UTF-8, with malformed sequences replaced by U+FFFD.
    public init(decoding bytes: some Collection<UInt8>) { string = String(decoding: bytes, as: UTF8.self) }

    /// The UTF-8 bytes of the text.
    public var utf8: String.UTF8View { string.utf8 }

    /// Whether the text has no bytes.
    public var isEmpty: Bool { string.isEmpty }

    /// Returns the parts of the text before and after the first byte `separator`, or `nil` if it does not occur.
    public func split(atFirst separator: UInt8) -> (before: CapturedText, after: CapturedText)? {
        guard let index = utf8.firstIndex(of: separator) else { return nil }
        return (CapturedText(string[..<index]), CapturedText(string[utf8.index(after: index)...]))
    }

    /// Returns the text with its ASCII letters in lowercase.
    ///
    /// Other letters are not changed, unlike by `String.lowercased()`.
    public func lowercasedASCII() -> CapturedText {
        utf8.contains(where: \.isUppercaseLetter) ? CapturedText(decoding: utf8.map(\.lowercased)) : self
    }
}

extension CapturedText: Hashable {
    /// Returns whether the texts have the same bytes.
    public static func == (left: CapturedText, right: CapturedText) -> Bool { left == right.string }

    /// Returns whether the text has the bytes of the string `right`.
    public static func == (left: CapturedText, right: String) -> Bool {
        left.utf8.span.equals(right.utf8.span)
    }

    /// Adds the bytes to a hash.
    public func hash(into hasher: inout Hasher) {
        unsafe utf8.span.withUnsafeBytes { bytes in unsafe hasher.combine(bytes: bytes) }
        // A byte that does not occur in UTF-8 separates the text from the text that is hashed next.
        hasher.combine(0xFF as UInt8)
    }
}

extension CapturedText: Comparable {
    /// Returns whether the bytes of `left` are before those of `right`.
    public static func < (left: CapturedText, right: CapturedText) -> Bool {
        left.utf8.lexicographicallyPrecedes(right.utf8)
    }
}

extension CapturedText: ExpressibleByStringInterpolation, CustomStringConvertible {
    /// Creates captured text from a literal.
    public init(stringLiteral literal: String) { string = literal }

    /// The text as a string.
    public var description: String { string }
}

/// A property wrapper that compares an optional property of type `String` by its bytes, like ``CapturedText``.
@propertyWrapper
public struct OptionalCapturedText: Sendable, Hashable {
    private var text: CapturedText?

    /// Creates the wrapper of a property from its value.
    public init(wrappedValue: String?) { text = wrappedValue.map { CapturedText($0) } }

    /// The value of the wrapped property.
    public var wrappedValue: String? {
        get { text?.string }
        set { text = newValue.map { CapturedText($0) } }
    }
}

// MARK: - Keys

extension Set<CapturedText> {
    /// Creates a set of the different texts among `strings`.
    public init(texts strings: some Sequence<String>) { self.init(strings.lazy.map { CapturedText($0) }) }

    /// Returns whether the set contains a text with the bytes of `string`.
    public func contains(_ string: String) -> Bool { contains(CapturedText(string)) }

    /// Inserts the text with the bytes of `string`, and returns whether the set did not contain it.
    @discardableResult
    public mutating func insert(_ string: String) -> Bool { insert(CapturedText(string)).inserted }
}

extension Dictionary where Key == CapturedText {
    /// Creates a dictionary from keys and values, of which the first value of each key applies.
    public init(texts pairs: KeyValuePairs<String, Value>) {
        self.init(pairs.map { (CapturedText($0.key), $0.value) }) { first, _ in first }
    }

    /// The value for the key with the bytes of `string`, or `nil` if there is none.
    public subscript(string: String) -> Value? {
        get { self[CapturedText(string)] }
        _modify { yield &self[CapturedText(string)] }
    }

    /// The value for the key with the bytes of `string`, or `defaultValue` if there is none.
    public subscript(string: String, default defaultValue: @autoclosure () -> Value) -> Value {
        get { self[CapturedText(string), default: defaultValue()] }
        _modify { yield &self[CapturedText(string), default: defaultValue()] }
    }
}

extension Sequence<CapturedText> {
    /// The texts as strings, in the order of their bytes.
    public var sortedStrings: [String] { sorted().map(\.string) }
}
