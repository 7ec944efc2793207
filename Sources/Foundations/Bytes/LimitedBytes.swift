/// Bytes that are put together from parts, up to a limit; once there are more, none are kept.
public struct LimitedBytes: Sendable {
    @usableFromInline var kept: [UInt8] = []
    @usableFromInline var isBeyond = false
    @usableFromInline let limit: Int

    /// No bytes yet.
    /// - Parameter limit: the most bytes that are kept.
    public init(limit: Int) {
        self.limit = limit
    }

    /// The bytes; none if there were more than the limit.
    @inlinable public var bytes: [UInt8] { kept }

    /// Whether there were more than the limit.
    @inlinable public var isTooLong: Bool { isBeyond }

    /// Forgets the bytes, keeps the memory.
    public mutating func removeAll() {
        kept.removeAll(keepingCapacity: true)
        isBeyond = false
    }

    /// Appends a byte.
    @inlinable
    public mutating func append(_ byte: UInt8) {
        if makeRoom(1) { kept.append(byte) }
    }

    /// Appends bytes.
    public mutating func append(_ part: Span<UInt8>) {
        if makeRoom(part.count) { kept.append(copying: part) }
    }

    /// Takes off the last byte; there has to be one.
    public mutating func removeLast() { kept.removeLast() }

    /// Whether so many bytes more may be kept.
    @inlinable
    mutating func makeRoom(_ count: Int) -> Bool {
        if !isBeyond, count <= limit - kept.count { return true }
        isBeyond = true
        kept = []
        return false
    }
}
