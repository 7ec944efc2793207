/// The limits on the inputs that a manifest lists.
///
/// Without limits, the manifests of bundles that are merged repeatedly would grow indefinitely.
///
/// Source: "Bundle", "Inputs".
struct InputBudget {
    /// The maximum nesting level of inputs, where the inputs of the bundle itself have level 1.
    static let maxDepth = 8
    /// The maximum number of inputs on all levels.
    static let maxInputs = 4096
    /// The maximum length of all labels in bytes.
    static let maxLabelBytes = 1 << 20
    /// The maximum number of inputs that can be counted as omitted, which all JSON readers can represent.
    static let maxOmitted = 1 << 53 - 1

    private var inputs = Self.maxInputs
    private var labelBytes = Self.maxLabelBytes

    /// Reserves the budget that an input needs, or returns `false` if the remaining budget is too small.
    mutating func reserve(_ input: BundleInput) -> Bool {
        let size = input.label?.utf8.count ?? 0
        guard inputs > 0, size <= labelBytes else { return false }
        inputs -= 1
        labelBytes -= size
        return true
    }

    /// Returns the sum of two numbers of inputs, limited to ``maxOmitted``.
    static func clampedSum(_ left: Int, _ right: Int) -> Int {
        left > maxOmitted - right ? maxOmitted : left + right
    }
}
