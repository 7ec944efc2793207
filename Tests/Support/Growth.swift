import Testing

/// Checks that the work for an input grows at most in proportion to a repeated structure of the input.
///
/// `work` returns the work for an input in which the structure occurs `count` times, as nodes and bytes that are charged
/// to a budget or as another deterministic count, but never as time. The work for `n`, `2n` and `4n` occurrences must
/// grow at most by a factor of 2.3 each time. A constant part of the work only reduces the factor.
public func expectLinearGrowth(
    of structure: String, from count: Int, sourceLocation: SourceLocation = #_sourceLocation,
    _ work: (_ count: Int) throws -> Int
) rethrows {
    var last: Int?
    for factor in [1, 2, 4] {
        let current = try work(factor * count)
        #expect(current > 0, "no work was counted for \(structure)", sourceLocation: sourceLocation)
        if let last {
            let text = "the work for \(factor * count) \(structure) grew from \(last) to \(current)"
            #expect(Double(current) <= 2.3 * Double(last), "\(text)", sourceLocation: sourceLocation)
        }
        last = current
    }
}
