import Glibc

// Access to 8 or 16 bytes at once, which is faster than access to each byte.
//
// The unaligned loads are marked as unsafe because not every bit pattern is a valid value of every type. Every bit
// pattern is a valid integer, and each load and store checks its bounds.
extension Span<UInt8> {
    /// Returns the eight bytes at `index` as a little-endian number, or `nil` if they are not all within the span.
    @inlinable @inline(__always)
    public func wordIfPresent(at index: Int) -> UInt64? {
        guard index >= 0, index <= count - 8 else { return nil }
        return UInt64(
            littleEndian: unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: index, as: UInt64.self))
    }

    /// Returns the eight bytes at `index` as a little-endian number.
    @inlinable @inline(__always)
    public func word(at index: Int) -> UInt64 {
        UInt64(littleEndian: unsafe bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self))
    }

    /// Returns the 16 bytes at `index` as a vector.
    @inlinable @inline(__always)
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
    @inlinable @inline(__always)
    @_lifetime(self: copy self)
    public mutating func store(_ word: UInt64, at index: Int) {
        var bytes = unsafe mutableBytes
        bytes.storeBytes(of: word.littleEndian, toByteOffset: index, as: UInt64.self)
    }

    /// Stores the 16 bytes of `vector` at `index`.
    @inlinable @inline(__always)
    @_lifetime(self: copy self)
    public mutating func store(_ vector: SIMD16<UInt8>, at index: Int) {
        var bytes = unsafe mutableBytes
        bytes.storeBytes(of: vector, toByteOffset: index, as: SIMD16<UInt8>.self)
    }
}
