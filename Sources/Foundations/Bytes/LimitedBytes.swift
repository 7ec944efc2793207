/// A byte buffer with a maximum size.
///
/// If more bytes are appended than the limit allows, the buffer discards all of them and rejects further ones until
/// ``removeAll()`` is called.
public struct LimitedBytes: Sendable {
    @usableFromInline var contents: [UInt8] = []
    @usableFromInline var isOverLimit = false
    @usableFromInline let limit: Int

    /// Creates an empty buffer.
    ///
    /// - Parameter limit: The maximum number of bytes.
    public init(limit: Int) {
        self.limit = limit
    }

    /// The appended bytes.
    ///
    /// Empty if there were more than the limit.
    @inlinable public var bytes: [UInt8] { contents }

    /// Whether more bytes were appended than the limit allows.
    @inlinable public var isTooLong: Bool { isOverLimit }

    /// Removes all bytes and keeps the allocated memory.
    public mutating func removeAll() {
        contents.removeAll(keepingCapacity: true)
        isOverLimit = false
    }

    /// Appends `byte`, unless the limit is exceeded.
    @inlinable
    public mutating func append(_ byte: UInt8) {
        if fits(1) { contents.append(byte) }
    }

    /// Appends all bytes of `part`, unless the limit is exceeded.
    public mutating func append(_ part: Span<UInt8>) {
        if fits(part.count) { contents.append(copying: part) }
    }

    /// Removes the last byte.
    ///
    /// The buffer must not be empty.
    public mutating func removeLast() { contents.removeLast() }

    /// Returns whether `count` more bytes fit.
    ///
    /// Discards all bytes if they do not.
    @inlinable
    mutating func fits(_ count: Int) -> Bool {
        if !isOverLimit, count <= limit - contents.count { return true }
        isOverLimit = true
        contents = []
        return false
    }
}
