/// A cursor that traverses the lines of a buffer.
///
/// Each line ends with a line feed, except possibly the last line.
public struct LineCursor: Sendable {
    /// The position of a line in the buffer.
    public struct Line: Sendable, Equatable {
        /// The indices of the bytes, without the line feed.
        public let range: Range<Int>
        /// Whether the line ends with a line feed.
        public let isTerminated: Bool
    }

    /// The number of lines that the cursor has returned.
    public private(set) var count = 0
    private var position: Int

    /// Creates a cursor whose first line begins at the index `start`.
    public init(from start: Int = 0) {
        position = start
    }

    /// Returns the position of the next line, or `nil` at the end of the buffer.
    ///
    /// The buffer must be the same in all calls.
    public mutating func next(in bytes: Span<UInt8>) -> Line? {
        guard position < bytes.count else { return nil }
        let end = bytes.firstIndex(of: UInt8(ascii: "\n"), from: position)
        let line = Line(range: position..<(end ?? bytes.count), isTerminated: end != nil)
        count += 1
        position = line.range.upperBound + 1
        return line
    }
}
