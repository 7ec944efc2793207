/// The contents of a member, behind room for its header: so header, contents and padding are compressed at once, without a
/// copy.
public struct MemberBuffer: Sendable {
    private var bytes = [UInt8](repeating: 0, count: TarHeader.blockSize)

    /// Makes a member without contents.
    /// - Parameter capacity: for how many bytes there is to be memory.
    public init(capacity: Int = 0) {
        // With the most padding that there may be.
        bytes.reserveCapacity(capacity + 2 * TarHeader.blockSize)
    }

    /// How many bytes of contents there are.
    public var count: Int { bytes.count - TarHeader.blockSize }
    /// For how many bytes of contents there is memory.
    public var capacity: Int { bytes.capacity - 2 * TarHeader.blockSize }
    /// The contents.
    public var contents: Span<UInt8> { bytes.span.extracting(TarHeader.blockSize...) }

    /// Appends to the contents.
    public mutating func append(_ more: ArraySlice<UInt8>) { bytes += more }

    /// Forgets the contents, keeps the memory.
    public mutating func removeAll() { bytes.removeSubrange(TarHeader.blockSize...) }

    /// Lends the bytes of the whole member.
    mutating func withMember<Output, Failure: Error>(
        _ header: TarHeader, _ body: (Span<UInt8>) throws(Failure) -> Output
    ) throws(Failure) -> Output {
        let end = bytes.count
        for (place, byte) in header.encoded().enumerated() { bytes[place] = byte }
        bytes += repeatElement(0, count: header.padding)
        defer { bytes.removeSubrange(end...) }
        return try body(bytes.span)
    }
}
