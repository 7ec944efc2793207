import Bundle
import Bytes
import Console
import JSONText

extension Manifest {
    /// Returns the lines that `list`, `verify` and `receive` print about a bundle, which begin with its digest.
    ///
    /// `digestRemark` is appended to the first line. `checks` are the lines about other checks that the bundle passed.
    /// `signer` is the verified signer, or `nil` if no signature was verified.
    func lines(digestRemark: String = "", checks: [String] = [], signer: Signer? = nil) -> [String] {
        let origin = [
            signer.map { "signed by \($0.principal) with \($0.keyDescription)" },
            pseudonymKeyID.map { "pseudonymized with the key \($0)" },
        ]
        return ["digest \(digest)\(digestRemark)"] + ancestryLines + checks + origin.compactMap(\.self) + filterLines
    }

    /// The lines that describe the parents of a bundle and its omitted contents, or an empty array without parents.
    var ancestryLines: [String] {
        guard !parents.isEmpty else { return [] }
        let counts = [
            omitted.records.counted("record"), "\(omitted.quarantine) quarantined",
            omitted.problems.counted("problem"),
        ]
        return parents.map { "continues the bundle with the digest \($0)" }
            + ["omitted because earlier bundles contain them: \(counts.joined(separator: ", "))"]
    }

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
    /// Creates the result of `verify` or `receive` for a valid bundle.
    ///
    /// The member for `key` identifies the bundle by its path or its name. The member `signer` is set only if a
    /// signature was verified.
    init(validBundle bundle: String, _ key: JSONKey, _ manifest: Manifest, _ signer: Signer?) {
        self = [key: bundle, "good": true]
        set(contentsOf: manifest)
        if let signer { set("signer", signer.json) }
    }

    /// Creates the result of `verify` or `receive` for a bundle that was rejected because of `failure`.
    ///
    /// The member for `key` identifies the bundle by its path or its name.
    init(rejectedBundle bundle: String, _ key: JSONKey, _ failure: CommandError) {
        self = [key: bundle, "good": false, "status": Int(failure.status.rawValue), "text": failure.message]
    }

    /// Sets the members `digest`, `totals` and `filters`, which is null if the bundle was made without filters.
    mutating func set(contentsOf manifest: Manifest) {
        set("digest", manifest.digest)
        set("filters", manifest.filters?.json)
        set("totals", manifest.totals.json)
    }

    /// Sets the members `parents` and `omitted`, which contains the number of omitted records, items and problems.
    mutating func set(ancestryOf manifest: Manifest) {
        set("omitted", manifest.omitted.json)
        set("parents", manifest.parents)
    }
}
