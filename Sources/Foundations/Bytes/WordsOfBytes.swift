/// Eight bytes looked at together: most of what is asked of bytes needs no look at each.
extension Span<UInt8> {
    /// Whether eight bytes stand from an index on.
    @inlinable @inline(__always)
    public func holdsWord(at index: Int) -> Bool { index <= count - 8 }

    /// Eight bytes from an index on as one number, the first one lowest: a single load where the compiler sees that
    /// ``holdsWord(at:)``.
    @inlinable @inline(__always)
    public func word(at index: Int) -> UInt64 {
        let bytes = extracting(index..<index &+ 8)
        let high = UInt64(bytes[7]) << 56 | UInt64(bytes[6]) << 48 | UInt64(bytes[5]) << 40
        let middle = UInt64(bytes[4]) << 32 | UInt64(bytes[3]) << 24 | UInt64(bytes[2]) << 16
        return high | middle | UInt64(bytes[1]) << 8 | UInt64(bytes[0])
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
