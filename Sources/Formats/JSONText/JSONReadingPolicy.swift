/// The deviations from RFC 8259 that a reader accepts.
public struct JSONReadingPolicy: Sendable {
    /// The treatment of a key that occurs more than once in an object.
    public enum DuplicateKeys: Sendable {
        /// The text is rejected.
        case reject
        /// The last value is kept, as in most parsers.
        case lastWins
    }

    /// The treatment of an escaped surrogate without the other half of its pair.
    public enum UnpairedSurrogates: Sendable {
        /// The text is rejected.
        case reject
        /// The surrogate is kept in WTF-8, and is escaped again when it is written.
        case keep
    }

    /// The limit on the number of values and keys of a text.
    ///
    /// Without a limit, a text of small values would need ten times its size in memory.
    public enum ValueLimit: Sendable {
        /// 1,048,576 values and keys, and one more for each 8 bytes of the text.
        case proportional
        /// 16,777,216 values and keys.
        ///
        /// This limit is for records. A record can be made of a text of 32 MiB with white space between its values.
        case fixed

        /// Returns the maximum number of values and keys of a text with `count` bytes.
        func count(forByteCount count: Int) -> Int {
            switch self {
            case .proportional: 1 << 20 + count / 8
            case .fixed: 1 << 24
            }
        }
    }

    /// The treatment of repeated keys.
    public var duplicateKeys: DuplicateKeys
    /// The treatment of lone surrogates.
    public var unpairedSurrogates: UnpairedSurrogates
    /// The maximum number of nested arrays and objects.
    public var depthLimit: Int
    /// The limit on the number of values and keys.
    public var valueLimit: ValueLimit

    /// The policy that accepts no deviations from RFC 8259 and at most 512 nested arrays and objects.
    public static let strict = JSONReadingPolicy()

    /// Creates a policy, which is strict by default.
    public init(
        duplicateKeys: DuplicateKeys = .reject,
        unpairedSurrogates: UnpairedSurrogates = .reject,
        depthLimit: Int = 512,
        valueLimit: ValueLimit = .proportional
    ) {
        self.duplicateKeys = duplicateKeys
        self.unpairedSurrogates = unpairedSurrogates
        self.depthLimit = depthLimit
        self.valueLimit = valueLimit
    }

}

/// An error that states why text is not valid JSON.
public struct JSONError: Error, Equatable, Sendable {
    /// The kind of fault.
    public let code: Code
    /// The byte offset in the source at which reading stopped.
    public let offset: Int

    /// The kinds of fault, with their descriptions as raw values.
    public enum Code: String, Sendable {
        /// The text is empty or contains only white space.
        case empty = "no JSON value"
        /// The text ends inside a value.
        case unexpectedEnd = "JSON ends inside a value"
        /// A byte that cannot begin a value or a separator at its position.
        case unexpectedByte = "unexpected byte"
        /// A number that RFC 8259 does not allow, such as `01` or `1.`.
        case invalidNumber = "malformed number"
        /// A backslash that is not followed by a valid escape.
        case invalidEscape = "malformed escape"
        /// An unescaped control character in a string.
        case controlCharacter = "unescaped control character"
        /// Bytes that are not well-formed UTF-8.
        case invalidUTF8 = "malformed UTF-8"
        /// An escaped surrogate without the other half of its pair.
        case unpairedSurrogate = "unpaired surrogate"
        /// A key that occurs more than once in an object.
        ///
        /// The error has the offset of the repeated key.
        case duplicateKey = "duplicate key"
        /// Arrays and objects are nested deeper than allowed.
        case tooDeep = "nested too deep"
        /// Bytes other than white space follow the value.
        case trailingBytes = "bytes after the JSON value"
        /// A text has more values and keys than its length allows.
        ///
        /// The limit is described by ``JSONReadingPolicy/ValueLimit``.
        case tooManyValues = "too many values"
        /// A text longer than ``JSONDocument/maximumLength``.
        case tooLarge = "JSON text too large"

        /// The description of the fault.
        public var text: String { rawValue }
    }

    /// Creates an error.
    public init(_ code: Code, at offset: Int) {
        self.code = code
        self.offset = offset
    }
}

extension JSONError: CustomStringConvertible {
    /// The description of the fault, followed by its offset.
    public var description: String { "\(code.text) at byte \(offset)" }
}
