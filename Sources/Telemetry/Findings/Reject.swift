/// A range of a store file that could not be parsed and is put into quarantine.
public struct Reject: Sendable, Equatable {
    /// The reason, which consists of a case id or code, a space and an explanation.
    public var reason: String
    /// The byte offset of the range.
    ///
    /// If the whole file is rejected, it is the offset of the parsing failure, or `nil`.
    public var offset: Int?
    /// The length of the range in bytes, or `nil` if the whole file is rejected.
    public var length: Int?

    /// Creates a reject of a range, or of the whole file if `offset` or `length` is `nil`.
    public init(_ reason: String, offset: Int? = nil, length: Int? = nil) {
        self.reason = reason
        self.offset = offset
        self.length = length
    }

    /// Returns the range of the rejected bytes in a file with `count` bytes.
    public func range(inFileOf count: Int) -> Range<Int> {
        guard let offset, let length, offset <= count else { return 0..<count }
        return offset..<min(offset + length, count)
    }
}
