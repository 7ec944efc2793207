extension Span<UInt8> {
    /// Returns whether `isAllowed` is true for all bytes.
    @inlinable
    package func hasOnly(_ isAllowed: (UInt8) -> Bool) -> Bool {
        for index in indices where !isAllowed(self[index]) { return false }
        return true
    }
}
