/// The notes on a payload, and its deviations from the documented form.
package struct Findings {
    /// The notes on changes and unexpected values.
    ///
    /// Each consists of a case id, a space and free text.
    package var notes: [String] = []
    /// The reasons why the payload does not have the documented form.
    package var faults: [String] = []

    package init() {}

    package mutating func note(_ text: String) { notes.append(text) }
    package mutating func fault(_ text: String) { faults.append(text) }

    /// The hold for a payload with faults, or `nil` if there are no faults.
    package var hold: Hold? { faults.isEmpty ? nil : .schema(Array(faults.prefix(Self.maximumNamedFaults))) }

    /// The maximum number of faults in the text of the hold.
    private static let maximumNamedFaults = 8
}
