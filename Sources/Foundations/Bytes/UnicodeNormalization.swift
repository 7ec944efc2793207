extension [UInt8] {
    /// Whether the bytes are UTF-8 text that is known to be in Unicode Normalization Form C.
    ///
    /// The check accepts only characters below U+0300, because U+0300 is the first combining mark.
    public var isComposedText: Bool {
        allSatisfy { $0 < 0xCC } && (try? UTF8Span(validating: span)) != nil
    }
}
