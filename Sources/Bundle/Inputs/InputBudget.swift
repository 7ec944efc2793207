import Bytes

/// The number of inputs and the number of bytes in labels and filters that a manifest can still list.
///
/// Without limits, the manifests of bundles that are merged repeatedly would grow indefinitely.
///
/// Source: "Bundle", "Inputs".
struct InputBudget {
    /// The maximum nesting level of inputs.
    ///
    /// The inputs of the bundle itself have level 1.
    static let maxDepth = 8
    /// The maximum number of inputs on all levels.
    static let maxInputCount = 4096
    /// The maximum total length, in bytes, of all labels and filters.
    static let maxLabelBytes = 1 << 20

    private var budget = WorkBudget(nodes: maxInputCount, bytes: maxLabelBytes)

    /// Reserves space for an input, or returns `false` if the input exceeds a limit.
    mutating func reserve(_ input: BundleInput) -> Bool {
        budget.reserve(nodes: 1, bytes: (input.label?.utf8.count ?? 0) + (input.filters?.byteCount ?? 0))
    }

    /// Returns the sum of two counts, limited to ``CountRange/maximum``.
    static func clampedSum(_ left: Int, _ right: Int) -> Int {
        min(left.addingSaturated(right), CountRange.maximum)
    }
}
