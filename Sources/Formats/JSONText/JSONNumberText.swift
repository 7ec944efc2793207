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
