/// The range of counts that are read from files.
///
/// Numbers in this range can be added and multiplied by small factors without an overflow. A file can contain a large number of
/// counts, so that sums of them are computed with ``Swift/Int/addingSaturated(_:)``.
public enum CountRange {
    /// The largest count, which is an integer that all JSON readers represent exactly.
    public static let maximum = 1 << 53 - 1

    /// Returns whether `number` is a possible count.
    public static func contains(_ number: Int) -> Bool { (0...maximum).contains(number) }
}

extension Int {
    /// Returns the sum, or the maximum integer on overflow.
    ///
    /// An overflow is possible, because a capture can contain arbitrarily large counts.
    public func addingSaturated(_ other: Int) -> Int {
        let (sum, hasOverflowed) = addingReportingOverflow(other)
        return hasOverflowed ? .max : sum
    }
}

extension Sequence<Int> {
    /// The sum of the numbers, or the maximum integer on overflow.
    public var saturatedSum: Int { reduce(0) { $0.addingSaturated($1) } }
}
