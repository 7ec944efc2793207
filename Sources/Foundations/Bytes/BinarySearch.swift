extension Range<Int> {
    /// Returns the first number for which `holds` returns `true`, or the upper bound if there is none.
    ///
    /// If `holds` returns `true` for a number, it must return `true` for all larger ones. The search is binary and
    /// calls `holds` O(log *n*) times.
    public func partitioningIndex(where holds: (Int) throws -> Bool) rethrows -> Int {
        var rest = self
        while !rest.isEmpty {
            let middle = rest.lowerBound + rest.count / 2
            rest = try holds(middle) ? rest.lowerBound..<middle : middle + 1..<rest.upperBound
        }
        return rest.lowerBound
    }
}

extension Sequence<UInt8> {
    /// Returns whether the bytes sort after those of `other` or are equal to them.
    public func follows(_ other: some Sequence<UInt8>) -> Bool {
        !lexicographicallyPrecedes(other)
    }
}
