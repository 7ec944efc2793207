/// A limit on the work and the memory that one input may cause.
///
/// The limits are proportional to the size of the input. Genuine files stay far below them. A hostile file can refer to
/// the same bytes many times, so that reading it in full would take more time or memory than its size suggests.
///
/// A budget counts the nodes that were visited, such as values, members and elements, and the bytes that were read or
/// written. The counts never decrease. For example, output that is removed again has still been written, so its bytes
/// remain charged. The readers of all formats use this type, and the growth tests compare its counts for inputs of
/// different sizes.
///
/// A reader charges each node and its bytes, and stops when ``charge(nodes:bytes:)`` returns `false`.
public struct WorkBudget: Sendable {
    /// The maximum number of nodes.
    public let nodeLimit: Int
    /// The maximum number of bytes.
    public let byteLimit: Int
    /// The number of nodes charged so far, clamped to the largest integer.
    public private(set) var nodeCount = 0
    /// The number of bytes charged so far, clamped to the largest integer.
    public private(set) var byteCount = 0

    /// Creates a budget with the given limits, which must not be negative.
    ///
    /// Without arguments, the budget only counts.
    public init(nodes nodeLimit: Int = .max, bytes byteLimit: Int = .max) {
        self.nodeLimit = nodeLimit
        self.byteLimit = byteLimit
    }

    /// Whether one of the limits was exceeded.
    public var isExhausted: Bool { nodeCount > nodeLimit || byteCount > byteLimit }

    /// The number of nodes that can be charged without exceeding the limit.
    public var remainingNodeCount: Int { max(0, nodeLimit - nodeCount) }

    /// The number of bytes that can be charged without exceeding the limit.
    public var remainingByteCount: Int { max(0, byteLimit - byteCount) }

    /// Charges work before or after it is done, and returns whether the budget is not exhausted.
    ///
    /// The counts must not be negative. They are added even if they exceed a limit.
    @discardableResult
    public mutating func charge(nodes: Int = 0, bytes: Int = 0) -> Bool {
        nodeCount = nodeCount.addingSaturated(nodes)
        byteCount = byteCount.addingSaturated(bytes)
        return !isExhausted
    }

    /// Charges optional work if it stays within the limits, and returns whether it does.
    ///
    /// Use this method for work that can be omitted, such as repeating a shared value. Otherwise, one large value would
    /// prevent all smaller ones after it.
    public mutating func reserve(nodes: Int = 0, bytes: Int = 0) -> Bool {
        guard nodes <= remainingNodeCount, bytes <= remainingByteCount else { return false }
        return charge(nodes: nodes, bytes: bytes)
    }
}

/// A byte buffer with a maximum size.
///
/// If the limit is exceeded, the buffer discards all bytes and rejects further ones until ``removeAll()`` is called.
public struct LimitedBytes: Sendable {
    var contents: [UInt8] = []
    var isOverLimit = false
    let byteLimit: Int

    /// Creates an empty buffer for at most `byteLimit` bytes.
    public init(byteLimit: Int) {
        self.byteLimit = byteLimit
    }

    /// The appended bytes, or no bytes if the limit was exceeded.
    public var bytes: [UInt8] { contents }

    /// Whether more bytes were appended than the limit allows.
    public var isTooLong: Bool { isOverLimit }

    /// Removes all bytes and keeps the allocated memory.
    public mutating func removeAll() {
        contents.removeAll(keepingCapacity: true)
        isOverLimit = false
    }

    /// Appends `byte`, or discards all bytes if the limit would be exceeded.
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
    mutating func reserve(_ count: Int) -> Bool {
        if !isOverLimit, count <= byteLimit - contents.count { return true }
        isOverLimit = true
        contents = []
        return false
    }
}

// MARK: - Counts

/// The range of counts that are read from files.
///
/// Numbers in this range can be added and multiplied by small factors without an overflow. A file can contain a large number of
/// counts, so that sums of them are computed with ``Swift/FixedWidthInteger/addingSaturated(_:)``.
public enum CountRange {
    /// The largest count, which is an integer that all JSON readers represent exactly.
    public static let maximum = 1 << 53 - 1

    /// Returns whether `number` is a possible count.
    public static func contains(_ number: Int) -> Bool { (0...maximum).contains(number) }
}

extension FixedWidthInteger {
    /// Returns the sum with a number that is not negative, or the maximum integer on overflow.
    ///
    /// An overflow is possible, because a capture can contain arbitrarily large counts.
    public func addingSaturated(_ other: Self) -> Self {
        let (sum, hasOverflowed) = addingReportingOverflow(other)
        return hasOverflowed ? .max : sum
    }
}

extension Sequence<Int> {
    /// The sum of the numbers, or the maximum integer on overflow.
    public var saturatedSum: Int { reduce(0) { $0.addingSaturated($1) } }
}

/// An optional `UInt32` that occupies four bytes, for tables with millions of entries.
///
/// A `UInt32?` occupies eight bytes in an array. In exchange, this type cannot represent `UInt32.max`.
public struct OptionalUInt32: Sendable, Hashable {
    @usableFromInline let bits: UInt32

    /// Creates an optional number, which must not be `UInt32.max`.
    @inlinable
    public init(_ value: UInt32?) {
        precondition(value != UInt32.max, "UInt32.max represents no value")
        bits = value ?? .max
    }

    /// The number, or `nil` if there is none.
    @inlinable public var value: UInt32? { bits == .max ? nil : bits }
}
