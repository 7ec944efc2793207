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
