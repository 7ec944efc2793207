import Bundle
import Capture

/// What a bundle was made of, a row an input; those of a bundle stand below it, further to the right.
struct InputRows {
    /// The rows that are shown: what the input is called, its kind, and its hash.
    private(set) var rows: [[String]] = []
    /// How many are listed and not rows.
    private(set) var hiddenCount = 0
    /// How many are not listed, on all levels.
    private(set) var omittedCount = 0

    init(_ inputs: GivenInputs) { add(inputs, level: 0) }

    /// Adds a level and those below it, of which there are few: a manifest is not read otherwise.
    private mutating func add(_ inputs: GivenInputs, level: Int) {
        // Each count may be as large as it can be.
        omittedCount = min(omittedCount, Int.max - inputs.omitted) + inputs.omitted
        for input in inputs.entries {
            let hash = (input.sha256 ?? input.digest)?.hex ?? ""
            let row = [
                String(repeating: "  ", count: level) + (input.label ?? "(not told)"), input.kind.rawValue, hash,
            ]
            if rows.count < FirstFew<[String]>.shown { rows.append(row) } else { hiddenCount += 1 }
            if let below = input.inputs { add(below, level: level + 1) }
        }
    }
}
