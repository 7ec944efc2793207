/// Why a text is not the JSON that was asked for, and where.
public struct JSONError: Error, Equatable, Sendable {
    /// What is wrong.
    public let code: Code
    /// The byte of the source at which reading stopped; the length of the source if that ended too early.
    public let offset: Int

    /// The kinds of fault that the reader distinguishes, each with its description as raw value.
    public enum Code: String, Sendable {
        /// No value at all: nothing, or white space only.
        case empty = "no JSON value"
        /// The text ends inside a value.
        case unexpectedEnd = "JSON ends inside a value"
        /// A byte that no value, separator or white space begins with here.
        case unexpectedByte = "unexpected byte"
        /// A number that RFC 8259 does not allow, such as `01` or `1.`.
        case invalidNumber = "malformed number"
        /// A backslash that is followed by no known escape.
        case invalidEscape = "malformed escape"
        /// A control character that stands unescaped in a string.
        case controlCharacter = "unescaped control character"
        /// Bytes that are not UTF-8: overlong, a surrogate, beyond U+10FFFF, or cut short.
        case invalidUTF8 = "malformed UTF-8"
        /// An escaped surrogate without its other half.
        case unpairedSurrogate = "unpaired surrogate"
        /// A key that its object already has. The offset is that of the repeated key.
        case duplicateKey = "duplicate key"
        /// More levels of arrays and objects than allowed.
        case tooDeep = "nested too deep"
        /// Something other than white space after the value.
        case trailingBytes = "bytes after the JSON value"
        /// A text longer than ``JSONDocument/maximumLength``.
        case tooLarge = "JSON text too large"

        /// The description of the fault.
        public var text: String { rawValue }
    }

    /// Makes an error of one kind at one place.
    public init(_ code: Code, at offset: Int) {
        self.code = code
        self.offset = offset
    }
}

extension JSONError: CustomStringConvertible {
    /// The fault in words, with its offset.
    public var description: String { "\(code.text) at byte \(offset)" }
}
