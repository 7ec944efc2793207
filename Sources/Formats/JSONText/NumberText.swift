import Bytes

/// Functions that examine the text of a JSON number without converting it to binary.
public enum JSONNumberText {
    /// The maximum number of digits of an integer that ``integer(from:)`` returns.
    public static let digitLimit = 64

    /// Returns whether a number has neither a fraction nor an exponent, as JSON Schema draft 4 requires of an integer.
    public static func isPlainInteger(_ text: Span<UInt8>) -> Bool {
        for index in text.indices where !text[index].isDigit {
            guard index == 0, text[index] == UInt8(ascii: "-") else { return false }
        }
        return true
    }

    /// Returns whether a number is less than zero.
    public static func isNegative(_ text: Span<UInt8>) -> Bool {
        guard !text.isEmpty, text[0] == UInt8(ascii: "-") else { return false }
        for index in text.indices {
            let byte = text[index]
            if byte | 0x20 == UInt8(ascii: "e") { return false }
            if byte.isDigit, byte != UInt8(ascii: "0") { return true }
        }
        return false
    }

    /// Returns the value of a number as the text of an integer, for example `7` for `7.0` and `1500` for `1.5e3`.
    ///
    /// Returns `nil` if `text` is malformed, or if the value has a fraction or more than ``digitLimit`` digits.
    public static func integer(from text: Span<UInt8>) -> [UInt8]? {
        guard let parts = DecimalParts(text) else { return nil }
        if parts.digits.isEmpty { return [UInt8(ascii: "0")] }
        let integerLength = parts.pointPosition
        guard integerLength >= parts.digits.count, integerLength <= digitLimit else { return nil }
        var integer = parts.isNegative ? [UInt8(ascii: "-")] : []
        integer += parts.digits
        integer += Array(repeating: UInt8(ascii: "0"), count: integerLength - parts.digits.count)
        return integer
    }
}

/// A decimal number split into its sign, its digits and the position of its decimal point.
///
/// The magnitude of the number is `0.digits` × 10^`pointPosition`.
public struct DecimalParts: Sendable {
    /// Whether the number has a minus sign.
    public let isNegative: Bool
    /// The significant digits in ASCII, without leading or trailing zeros.
    public let digits: [UInt8]
    /// The exponent of the power of ten in the magnitude, clamped to the range −1,000,000 to 1,000,000.
    public let pointPosition: Int

    /// Parses a JSON number (RFC 8259), or returns `nil` if `text` is malformed.
    public init?(_ text: Span<UInt8>) {
        var index = 0
        isNegative = !text.isEmpty && text[0] == UInt8(ascii: "-")
        if isNegative { index += 1 }
        var digits: [UInt8] = []
        var point = 0
        var hasPoint = false
        var integerLength = 0
        var fractionLength = 0
        while index < text.count, text[index].isDigit || (text[index] == UInt8(ascii: ".") && !hasPoint) {
            let byte = text[index]
            index += 1
            if byte == UInt8(ascii: ".") {
                hasPoint = true
                continue
            }
            if hasPoint { fractionLength += 1 } else { integerLength += 1 }
            let isLeadingZero = digits.isEmpty && byte == UInt8(ascii: "0")
            if !isLeadingZero { digits.append(byte) }
            if hasPoint, isLeadingZero { point -= 1 }
            if !hasPoint, !isLeadingZero { point += 1 }
        }
        let hasExtraZero = integerLength > 1 && text[isNegative ? 1 : 0] == UInt8(ascii: "0")
        guard integerLength > 0, !hasExtraZero, hasPoint == (fractionLength > 0),
            let exponent = Self.exponent(text.extracting(index...))
        else { return nil }
        while digits.last == UInt8(ascii: "0") { digits.removeLast() }
        self.digits = digits
        pointPosition = digits.isEmpty ? 0 : Swift.min(Swift.max(point + exponent, -1_000_000), 1_000_000)
    }

    /// Returns the value of an exponent such as `e+12`, 0 for empty text, or `nil` if `text` is malformed.
    private static func exponent(_ text: Span<UInt8>) -> Int? {
        if text.isEmpty { return 0 }
        guard text[0] | 0x20 == UInt8(ascii: "e"), text.count > 1 else { return nil }
        let hasSign = text[1] == UInt8(ascii: "-") || text[1] == UInt8(ascii: "+")
        guard text.count > (hasSign ? 2 : 1) else { return nil }
        var value = 0
        for index in (hasSign ? 2 : 1)..<text.count {
            guard text[index].isDigit else { return nil }
            // The limit prevents an overflow. No number has enough digits to offset such an exponent.
            value = Swift.min(value * 10 + Int(text[index] & 0xF), 1 << 40)
        }
        return text[1] == UInt8(ascii: "-") ? -value : value
    }
}

extension Int64 {
    /// Parses a decimal integer, or returns `nil` if `text` is malformed, out of range, or has more than 19 digits.
    public init?(decimal text: Span<UInt8>) {
        let isNegative = !text.isEmpty && text[0] == UInt8(ascii: "-")
        let digits = text.extracting((isNegative ? 1 : 0)...)
        // 19 digits always fit in an unsigned number of 64 bits.
        guard !digits.isEmpty, digits.count <= 19 else { return nil }
        var magnitude: UInt64 = 0
        for index in digits.indices {
            guard digits[index].isDigit else { return nil }
            magnitude = magnitude &* 10 &+ UInt64(digits[index] & 0xF)
        }
        guard magnitude <= (isNegative ? Int64.min : .max).magnitude else { return nil }
        self = Int64(truncatingIfNeeded: isNegative ? 0 &- magnitude : magnitude)
    }
}

extension Int64 {
    /// Parses a number whose value is an integer, such as `7`, `7.0` or `1.5e3`.
    ///
    /// Returns `nil` if `text` is malformed, has a fraction, or is out of range.
    public init?(integerValueOf text: Span<UInt8>) {
        if let number = Int64(decimal: text) {
            self = number
        } else {
            guard let integer = JSONNumberText.integer(from: text) else { return nil }
            self.init(decimal: integer.span)
        }
    }
}

/// A number as a server with the Java library Jackson reads it.
public enum JacksonNumber: Sendable {
    /// A number without a fraction and exponent, which keeps its digits.
    case integer
    /// Any other number.
    case real(Double)
    /// A number beyond the range of doubles, which is a string in all further steps, such as `Infinity`.
    case text(ConstantText)

    /// Reads the text of a JSON number.
    public init(_ text: Span<UInt8>) {
        guard !JSONNumberText.isPlainInteger(text) else {
            self = .integer
            return
        }
        let real = Double(String(readingUTF8: text)) ?? 0
        self = real.isFinite ? .real(real) : .text(real < 0 ? Pieces.negativeInfinity : Pieces.infinity)
    }
}

/// A notation of JSON values whose numbers are read by Jackson.
public enum JacksonNotation: Sendable {
    /// The text that Jackson writes: members in the order of the source, escapes in uppercase, and reals as in Java.
    case jackson
    /// Canonical JSON, with reals as RFC 8785 specifies.
    case canonical
}

extension JSONDocument {
    /// Appends a value, whose numbers are written as the server reads them.
    public func write(_ node: JSONNode, in notation: JacksonNotation, to output: inout TextBuffer) {
        switch kind(of: node) {
        case .removed: break
        case .null: output.append(Pieces.null)
        case .true: output.append(Pieces.true)
        case .false: output.append(Pieces.false)
        case .number: output.append(numberAsRead: bytes(of: node), in: notation)
        case .string:
            switch notation {
            case .jackson: output.append(jacksonString: bytes(of: node))
            case .canonical: output.append(jsonString: bytes(of: node))
            }
        case .array:
            output.append(UInt8(ascii: "["))
            let start = output.count
            var element = firstElement(of: node)
            while let current = element {
                if output.count > start { output.append(UInt8(ascii: ",")) }
                write(current, in: notation, to: &output)
                element = self.element(after: current, of: node)
            }
            output.append(UInt8(ascii: "]"))
        case .object: writeMembers(of: node, in: notation, to: &output)
        }
    }

    private func writeMembers(of object: JSONNode, in notation: JacksonNotation, to output: inout TextBuffer) {
        output.append(UInt8(ascii: "{"))
        let start = output.count
        switch notation {
        case .jackson:
            for member in membersInSource(of: object) {
                if output.count > start { output.append(UInt8(ascii: ",")) }
                output.append(jacksonString: bytes(of: member.key))
                output.append(UInt8(ascii: ":"))
                write(member.value, in: notation, to: &output)
            }
        case .canonical:
            for position in 0..<count(of: object) {
                let member = member(at: position, of: object)
                if position > 0 { output.append(UInt8(ascii: ",")) }
                output.append(jsonString: bytes(of: member.key))
                output.append(UInt8(ascii: ":"))
                write(member.value, in: notation, to: &output)
            }
        }
        output.append(UInt8(ascii: "}"))
    }
}

extension TextBuffer {
    /// Appends a number as the server reads it.
    ///
    /// The integer `-0` becomes `0`, and a number beyond the range of doubles becomes a string.
    public mutating func append(numberAsRead text: Span<UInt8>, in notation: JacksonNotation) {
        switch (JacksonNumber(text), notation) {
        case (.integer, _): append(copying: text.equals("-0") ? text.extracting(1...) : text)
        case (.real(let real), .jackson): append(atMost: TextWriter.realLengthLimit) { $0.append(javaNumber: real) }
        case (.real(let real), .canonical): append(jsonNumber: real)
        case (.text(let text), _):
            append(UInt8(ascii: "\""))
            append(text)
            append(UInt8(ascii: "\""))
        }
    }

    /// Appends UTF-8 or WTF-8 as a JSON string with the escapes of Jackson.
    ///
    /// Lone surrogates are not escaped.
    public mutating func append(jacksonString text: Span<UInt8>) {
        append(atMost: text.canonicalLengthLimit) { output in
            output.append(UInt8(ascii: "\""))
            if text.needsNoEscape {
                output.append(copying: text)
            } else {
                for index in text.indices { output.append(jacksonByte: text[index]) }
            }
            output.append(UInt8(ascii: "\""))
        }
    }
}

extension TextWriter {
    fileprivate mutating func append(jacksonByte byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"):
            append(UInt8(ascii: "\\"))
            append(byte)
        case ..<0x20:
            append(UInt8(ascii: "\\"))
            if let short = byte.shortJSONEscape { return append(short) }
            append(Pieces.unit)
            append((byte >> 4).upperHexadecimalDigit)
            append((byte & 0xF).upperHexadecimalDigit)
        default: append(byte)
        }
    }
}

/// Constant parts of values.
private enum Pieces {
    static let null: ConstantText = "null"
    static let `true`: ConstantText = "true"
    static let `false`: ConstantText = "false"
    static let infinity: ConstantText = "Infinity"
    static let negativeInfinity: ConstantText = "-Infinity"
    static let unit: ConstantText = "u00"
}
