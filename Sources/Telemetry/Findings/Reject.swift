/// Bytes of a store that could not be understood and go to quarantine.
public struct Reject: Sendable, Equatable {
    /// A case id or code, a space, and words.
    public var reason: String
    /// Where the span begins, or where understanding ended; nil for the whole file.
    public var offset: Int?
    /// How long the span is; nil for all of the file.
    public var length: Int?

    /// Rejects a span, or all of a file where none is given.
    public init(_ reason: String, offset: Int? = nil, length: Int? = nil) {
        self.reason = reason
        self.offset = offset
        self.length = length
    }

    /// The bytes meant, within a file of a given length.
    public func range(inFileOf count: Int) -> Range<Int> {
        guard let offset, let length, offset <= count else { return 0..<count }
        return offset..<min(offset + length, count)
    }
}
