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
