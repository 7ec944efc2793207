import Bundle
import Capture

/// The inputs of a bundle as rows of a table, with indented rows for the inputs of input bundles.
struct InputRows {
    /// The shown rows, each with the label, kind and hash of an input.
    private(set) var rows: [[String]] = []
    /// The number of inputs that are listed in the manifest but not shown.
    private(set) var hiddenCount = 0
    /// The number of inputs on all levels that are counted but not listed in the manifest.
    private(set) var omittedCount = 0

    init(_ inputs: BundleInputs) { add(inputs, level: 0) }

    /// Adds rows for `inputs` and for all levels below, which are few because deeply nested manifests are rejected.
    private mutating func add(_ inputs: BundleInputs, level: Int) {
        // The sum is capped, because each count can be as large as `Int.max`.
        omittedCount = min(omittedCount, Int.max - inputs.omittedCount) + inputs.omittedCount
        for input in inputs.entries {
            let hash = (input.sha256 ?? input.digest)?.hex ?? ""
            let row = [String(repeating: "  ", count: level) + (input.label ?? "(unknown)"), input.kind.rawValue, hash]
            if rows.count < CappedList<[String]>.defaultLimit { rows.append(row) } else { hiddenCount += 1 }
            if let below = input.inputs { add(below, level: level + 1) }
        }
    }
}
