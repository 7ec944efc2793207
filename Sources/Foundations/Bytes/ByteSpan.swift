import CLibrary

extension Span<UInt8> {
    /// Whether every byte is zero.
    public var isAllZero: Bool { allSatisfy { $0 == 0 } }

    /// Returns an array with the bytes.
    public func copied() -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(copying: self)
        return bytes
    }
}

extension [UInt8] {
    /// Appends the bytes of a span.
    public mutating func append(copying bytes: Span<UInt8>) {
        unsafe bytes.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
    }
}

// Access to 8 or 16 bytes at once, which is faster than access to each byte.
//
// The unaligned loads are marked as unsafe because not every bit pattern is a valid value of every type. Every bit
// pattern is a valid integer, and each load and store checks its bounds.
extension Span<UInt8> {
    /// Returns the eight bytes at `index` as a little-endian number, or `nil` if they are not all within the span.
    public func wordIfPresent(at index: Int) -> UInt64? {
        guard index >= 0, index <= count - 8 else { return nil }
        return UInt64(
            littleEndian: unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: index, as: UInt64.self))
    }

    /// Returns the eight bytes at `index` as a little-endian number.
    public func word(at index: Int) -> UInt64 {
        UInt64(littleEndian: unsafe bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self))
    }

    /// Returns the 16 bytes at `index` as a vector.
    public func vector(at index: Int) -> SIMD16<UInt8> {
        unsafe bytes.unsafeLoadUnaligned(fromByteOffset: index, as: SIMD16<UInt8>.self)
    }

    /// Returns whether both spans contain the same bytes.
    public func equals(_ other: Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        var index = 0
        while let mine = wordIfPresent(at: index), let others = other.wordIfPresent(at: index) {
            if mine != others { return false }
            index &+= 8
        }
        while index < count {
            if self[index] != other[index] { return false }
            index &+= 1
        }
        return true
    }

    /// Returns whether the span begins with the bytes of `beginning`.
    public func starts(with beginning: Span<UInt8>) -> Bool {
        count >= beginning.count && extracting(..<beginning.count).equals(beginning)
    }

    /// Returns whether `byte` occurs in the bytes.
    public func contains(_ byte: UInt8) -> Bool { firstIndex(of: byte, from: 0) != nil }

    /// Returns the index of the first occurrence of `byte` at or after `start`, or `nil` if there is none.
    public func firstIndex(of byte: UInt8, from start: Int) -> Int? {
        guard start < count else { return nil }
        return unsafe extracting(start...).withUnsafeBytes { bytes -> Int? in
            guard let first = bytes.baseAddress, let found = unsafe memchr(first, Int32(byte), bytes.count) else {
                return nil
            }
            return unsafe start + (UnsafeRawPointer(found) - first)
        }
    }
}

extension MutableSpan<UInt8> {
    /// Stores `word` as eight little-endian bytes at `index`.
    public mutating func store(_ word: UInt64, at index: Int) {
        var bytes = unsafe mutableBytes
        bytes.storeBytes(of: word.littleEndian, toByteOffset: index, as: UInt64.self)
    }

    /// Stores the 16 bytes of `vector` at `index`.
    public mutating func store(_ vector: SIMD16<UInt8>, at index: Int) {
        var bytes = unsafe mutableBytes
        bytes.storeBytes(of: vector, toByteOffset: index, as: SIMD16<UInt8>.self)
    }
}

extension [UInt8] {
    /// Returns whether the array contains the UTF-8 bytes of `text`.
    ///
    /// An empty `text` is never found.
    public func contains(text: String) -> Bool {
        let pattern = Array(text.utf8)
        guard let first = pattern.first, count >= pattern.count else { return false }
        let last = count - pattern.count
        var index = 0
        while index <= last {
            if self[index] == first, self[index..<index + pattern.count].elementsEqual(pattern) { return true }
            index += 1
        }
        return false
    }
}

extension Range<Int> {
    /// Returns the first number in the range for which `predicate` returns `true`, or the upper bound if there is none.
    ///
    /// If `predicate` returns `true` for a number, it must return `true` for all larger numbers. The search is binary
    /// and calls `predicate` O(log *n*) times.
    public func partitioningIndex(where predicate: (Int) throws -> Bool) rethrows -> Int {
        var rest = self
        while !rest.isEmpty {
            let middle = rest.lowerBound + rest.count / 2
            rest = try predicate(middle) ? rest.lowerBound..<middle : middle + 1..<rest.upperBound
        }
        return rest.lowerBound
    }
}

extension Sequence<UInt8> {
    /// Returns whether the bytes sort after the bytes of `other` or are equal to them.
    public func lexicographicallyFollowsOrEquals(_ other: some Sequence<UInt8>) -> Bool {
        !lexicographicallyPrecedes(other)
    }
}

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
