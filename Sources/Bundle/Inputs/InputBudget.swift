/// How much a manifest says of the inputs of its bundle, so that bundles that are merged again and again do not make it grow
/// without end.
///
/// Source: "Bundle", "Inputs".
struct InputBudget {
    /// How deep inputs of inputs are listed: those that were given stand on level 1.
    static let maxDepth = 8
    /// The most inputs on all maxDepth.
    static let maxInputs = 4096
    /// The most bytes of all labels.
    static let maxLabelBytes = 1 << 20
    /// The greatest number of inputs that are not listed; one more still counts as so many. Every reader of JSON takes it.
    static let maxOmitted = 1 << 53 - 1

    private var inputs = Self.maxInputs
    private var labelBytes = Self.maxLabelBytes

    /// Takes what an input needs.
    /// - Returns: false if there is not so much left.
    mutating func reserve(_ input: GivenInput) -> Bool {
        let size = input.label?.utf8.count ?? 0
        guard inputs > 0, size <= labelBytes else { return false }
        inputs -= 1
        labelBytes -= size
        return true
    }

    /// The sum of two counts of inputs that are not listed.
    static func clampedSum(_ left: Int, _ right: Int) -> Int {
        left > maxOmitted - right ? maxOmitted : left + right
    }
}
