import Bundle
import Capture

/// The inputs that a bundle was made from, as rows of a table, with the inputs of input bundles indented.
struct InputRows {
    /// The rows that are shown, each with the label, the kind and the hash of an input.
    private(set) var rows: [[String]] = []
    /// The number of inputs that the manifest lists and that are not shown.
    private(set) var hiddenCount = 0
    /// The number of inputs on all levels that the manifest only counts.
    private(set) var omittedCount = 0

    init(_ inputs: BundleInputs) { add(inputs, level: 0) }

    /// Adds a level and the levels below it, which are few, because deeply nested manifests are rejected.
    private mutating func add(_ inputs: BundleInputs, level: Int) {
        // The sum is limited, because each count can be as large as `Int.max`.
        omittedCount = min(omittedCount, Int.max - inputs.omitted) + inputs.omitted
        for input in inputs.entries {
            let hash = (input.sha256 ?? input.digest)?.hex ?? ""
            let row = [String(repeating: "  ", count: level) + (input.label ?? "(unknown)"), input.kind.rawValue, hash]
            if rows.count < CappedList<[String]>.defaultLimit { rows.append(row) } else { hiddenCount += 1 }
            if let below = input.inputs { add(below, level: level + 1) }
        }
    }
}
