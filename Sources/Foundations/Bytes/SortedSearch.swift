extension Range<Int> {
    /// The first number that a test holds for, where it holds for all that follow; the end if it holds for none.
    ///
    /// It is asked as often as the range can be halved.
    public func firstSorted(where holds: (Int) throws -> Bool) rethrows -> Int {
        var rest = self
        while !rest.isEmpty {
            let middle = rest.lowerBound + rest.count / 2
            rest = try holds(middle) ? rest.lowerBound..<middle : middle + 1..<rest.upperBound
        }
        return rest.lowerBound
    }
}

extension Sequence<UInt8> {
    /// Whether the bytes come after others, or are the same.
    public func follows(_ other: some Sequence<UInt8>) -> Bool {
        !lexicographicallyPrecedes(other)
    }
}
