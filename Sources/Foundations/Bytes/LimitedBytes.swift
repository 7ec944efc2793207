/// A byte buffer with a maximum size.
///
/// If the limit is exceeded, the buffer discards all bytes and rejects further ones until ``removeAll()`` is called.
public struct LimitedBytes: Sendable {
    @usableFromInline var contents: [UInt8] = []
    @usableFromInline var isOverLimit = false
    @usableFromInline let byteLimit: Int

    /// Creates an empty buffer for at most `byteLimit` bytes.
    public init(byteLimit: Int) {
        self.byteLimit = byteLimit
    }

    /// The appended bytes, or no bytes if the limit was exceeded.
    @inlinable public var bytes: [UInt8] { contents }

    /// Whether more bytes were appended than the limit allows.
    @inlinable public var isTooLong: Bool { isOverLimit }

    /// Removes all bytes and keeps the allocated memory.
    public mutating func removeAll() {
        contents.removeAll(keepingCapacity: true)
        isOverLimit = false
    }

    /// Appends `byte`, or discards all bytes if the limit would be exceeded.
    @inlinable
    public mutating func append(_ byte: UInt8) {
        if reserve(1) { contents.append(byte) }
    }

    /// Appends all bytes of `part`, or discards all bytes if the limit would be exceeded.
    public mutating func append(_ part: Span<UInt8>) {
        if reserve(part.count) { contents.append(copying: part) }
    }

    /// Removes the last byte.
    ///
    /// The buffer must not be empty.
    public mutating func removeLast() { contents.removeLast() }

    /// Returns whether `count` more bytes fit, and discards all bytes if they do not.
    @inlinable
    mutating func reserve(_ count: Int) -> Bool {
        if !isOverLimit, count <= byteLimit - contents.count { return true }
        isOverLimit = true
        contents = []
        return false
    }
}
