import Bundle
import JSONText

extension Manifest {
    /// The lines that describe the parents of a bundle and its omitted contents, or an empty array without parents.
    var ancestryLines: [String] {
        guard !parents.isEmpty else { return [] }
        let counts = [
            Summary.count(omitted.records, "record"), "\(omitted.quarantine) quarantined",
            Summary.count(omitted.problems, "problem"),
        ]
        return parents.map { "continues the bundle with the digest \($0)" }
            + ["omitted because earlier bundles contain them: \(counts.joined(separator: ", "))"]
    }
}

extension Manifest {
    /// The lines that state the filters of the bundle and of the bundles from which it was made.
    var filterLines: [String] {
        let own = filters.map {
            ["made with the filters \($0.description): other records of the inputs are not included"]
        }
        return (own ?? []) + Self.filterLines(of: inputs.entries)
    }

    /// Returns the lines that state the filters of bundles in `inputs` and in all levels below.
    private static func filterLines(of inputs: [BundleInput]) -> [String] {
        inputs.flatMap { input in
            let own = input.filters.map { ["\(input.label ?? "an input") was made with the filters \($0.description)"] }
            return (own ?? []) + filterLines(of: input.inputs?.entries ?? [])
        }
    }
}

extension CanonicalObject {
    /// Sets the member `filters` to the filters of the bundle, or to null if it has none.
    mutating func set(filtersOf manifest: Manifest) {
        if let filters = manifest.filters {
            set("filters", object: filters.json)
        } else {
            set("filters", string: nil)
        }
    }

    /// Sets the members `parents` and `omitted`, which contains the number of omitted records, items and problems.
    mutating func set(ancestryOf manifest: Manifest) {
        set("omitted", object: manifest.omitted.json)
        set("parents", strings: manifest.parents)
    }
}
