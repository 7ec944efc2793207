/// Eight bytes looked at together: most of what is asked of bytes needs no look at each.
///
/// A load or store of several bytes is called unsafe for the sake of types that not all bytes make values of. Of numbers all
/// do; and the bounds are checked by each of them, like those of a single byte.
extension Span<UInt8> {
    /// Whether eight bytes stand from an index on.
    @inlinable @inline(__always)
    public func holdsWord(at index: Int) -> Bool { index <= count - 8 }

    /// Eight bytes from an index on as one number, the first one lowest.
    @inlinable @inline(__always)
    public func word(at index: Int) -> UInt64 {
        UInt64(littleEndian: unsafe bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self))
    }

    /// Sixteen bytes from an index on.
    @inlinable @inline(__always)
    public func piece(at index: Int) -> SIMD16<UInt8> {
        unsafe bytes.unsafeLoadUnaligned(fromByteOffset: index, as: SIMD16<UInt8>.self)
    }

    /// Whether the bytes are the same.
    public func equals(_ other: Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        var index = 0
        while holdsWord(at: index), other.holdsWord(at: index) {
            if word(at: index) != other.word(at: index) { return false }
            index &+= 8
        }
        while index < count {
            if self[index] != other[index] { return false }
            index &+= 1
        }
        return true
    }

    /// The first place of a byte from an index on; nil if it does not come.
    public func firstIndex(of byte: UInt8, from start: Int) -> Int? {
        let pattern = 0x0101_0101_0101_0101 &* UInt64(byte)
        var index = start
        while holdsWord(at: index) {
            let others = word(at: index) ^ pattern
            // The lowest bit that is set belongs to the first byte that is the one looked for.
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
    /// Writes eight bytes from an index on, the lowest one first.
    @inlinable @inline(__always)
    @_lifetime(self: copy self)
    public mutating func store(_ word: UInt64, at index: Int) {
        var bytes = unsafe mutableBytes
        bytes.storeBytes(of: word.littleEndian, toByteOffset: index, as: UInt64.self)
    }

    /// Writes sixteen bytes from an index on.
    @inlinable @inline(__always)
    @_lifetime(self: copy self)
    public mutating func store(_ piece: SIMD16<UInt8>, at index: Int) {
        var bytes = unsafe mutableBytes
        bytes.storeBytes(of: piece, toByteOffset: index, as: SIMD16<UInt8>.self)
    }
}
