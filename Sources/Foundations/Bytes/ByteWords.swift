// Access to 8 or 16 bytes at once, which is faster than access to each byte.
//
// The unaligned loads are marked as unsafe because not every bit pattern is a valid value of every type. Every bit
// pattern is a valid integer, and each load and store checks its bounds.
extension Span<UInt8> {
    /// Returns whether the span contains at least eight bytes from `index` on.
    @inlinable @inline(__always)
    public func hasWord(at index: Int) -> Bool { index <= count - 8 }

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
        while hasWord(at: index), other.hasWord(at: index) {
            if word(at: index) != other.word(at: index) { return false }
            index &+= 8
        }
        while index < count {
            if self[index] != other[index] { return false }
            index &+= 1
        }
        return true
    }

    /// Returns whether the first bytes are those of `beginning`.
    public func starts(with beginning: Span<UInt8>) -> Bool {
        count >= beginning.count && extracting(..<beginning.count).equals(beginning)
    }

    /// Returns the index of the first occurrence of `byte` at or after `start`, or `nil` if there is none.
    public func firstIndex(of byte: UInt8, from start: Int) -> Int? {
        let pattern = 0x0101_0101_0101_0101 &* UInt64(byte)
        var index = start
        while hasWord(at: index) {
            let others = word(at: index) ^ pattern
            // The lowest bit that is set belongs to the first matching byte.
            let found = (others &- 0x0101_0101_0101_0101) & ~others & 0x8080_8080_8080_8080
            if found != 0 { return index &+ found.trailingZeroBitCount &>> 3 }
            index &+= 8
        }
        while index < count {
            if self[index] == byte { return index }
            index &+= 1
        }
        return nil
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
