extension Array where Element == UInt8 {
    /// Returns the 32-bit little-endian number at `offset`, or `nil` if the array is too short.
    func littleEndian32(at offset: Int) -> UInt32? {
        guard offset >= 0, count >= 4, offset <= count - 4 else { return nil }
        return (0..<4).reversed().reduce(0) { $0 << 8 | UInt32(self[offset + $1]) }
    }

    /// Appends `value` in little-endian byte order.
    mutating func appendLittleEndian(_ value: UInt32) {
        for shift in [0, 8, 16, 24] as [UInt32] { append(UInt8(truncatingIfNeeded: value >> shift)) }
    }
}
