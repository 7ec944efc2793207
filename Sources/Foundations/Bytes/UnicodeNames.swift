extension Array where Element == UInt8 {
    /// Whether the bytes are UTF-8 of characters that every normal form of Unicode spells alike: those below U+0300, where
    /// the combining marks begin.
    public var isTextInEveryNormalForm: Bool {
        allSatisfy { $0 < 0xCC } && (try? UTF8Span(validating: span)) != nil
    }
}
