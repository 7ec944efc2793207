extension Int64 {
    /// The value of decimal digits with an optional minus sign; nil if it is not that or has more than 64 bits.
    public init?(decimal text: Span<UInt8>) {
        let isNegative = !text.isEmpty && text[0] == UInt8(ascii: "-")
        let digits = text.extracting((isNegative ? 1 : 0)...)
        // So many digits fit into 64 bits without a sign, whatever they are.
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
