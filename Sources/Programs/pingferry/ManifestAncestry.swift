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

extension CanonicalObject {
    /// Sets the members `parents` and `omitted`, which contains the number of omitted records, items and problems.
    mutating func set(ancestryOf manifest: Manifest) {
        set("omitted", object: manifest.omitted.json)
        set("parents", strings: manifest.parents)
    }
}
