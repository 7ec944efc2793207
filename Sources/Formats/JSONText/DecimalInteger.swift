import Bytes

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
