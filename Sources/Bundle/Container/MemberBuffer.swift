/// A buffer for the contents of a member, preceded by space for the tar header.
///
/// The header, the contents and the padding can be compressed in a single call without a copy.
public struct MemberBuffer: Sendable {
    private var bytes = [UInt8](repeating: 0, count: TarHeader.blockSize)

    /// Creates an empty buffer with memory for `capacity` bytes of contents.
    public init(capacity: Int = 0) {
        // The header and the padding need at most one block each.
        bytes.reserveCapacity(capacity + 2 * TarHeader.blockSize)
    }

    /// The number of bytes of contents.
    public var count: Int { bytes.count - TarHeader.blockSize }
    /// The number of bytes of contents that fit into the allocated memory.
    public var capacity: Int { bytes.capacity - 2 * TarHeader.blockSize }
    /// The contents of the member, without the header.
    public var contents: Span<UInt8> { bytes.span.extracting(TarHeader.blockSize...) }

    /// Appends bytes to the contents.
    public mutating func append(_ more: ArraySlice<UInt8>) { bytes += more }

    /// Removes the contents and keeps the memory.
    public mutating func removeAll() { bytes.removeSubrange(TarHeader.blockSize...) }

    /// Calls `body` with the bytes of the whole member: header, contents and padding.
    mutating func withMember<Output, Failure: Error>(
        _ header: TarHeader, _ body: (Span<UInt8>) throws(Failure) -> Output
    ) throws(Failure) -> Output {
        let end = bytes.count
        for (index, byte) in header.encoded().enumerated() { bytes[index] = byte }
        bytes += repeatElement(0, count: header.padding)
        defer { bytes.removeSubrange(end...) }
        return try body(bytes.span)
    }
}
