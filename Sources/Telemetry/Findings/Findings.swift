/// The notes on a payload, and its deviations from the documented form.
package struct Findings {
    /// The notes on changes and unexpected values.
    ///
    /// Each note consists of a case id, a space and free text.
    package var notes: [String] = []
    /// The first reasons why the payload does not have the documented form, at most ``maximumFaultCount``.
    package var faults: [String] = []

    /// The maximum number of faults that are kept.
    package static let maximumFaultCount = 8

    package init() {}

    package mutating func note(_ text: String) { notes.append(text) }
    package mutating func fault(_ text: String) {
        if faults.count < Self.maximumFaultCount { faults.append(text) }
    }

    /// The hold for a payload with faults, or `nil` if there are no faults.
    package var hold: Hold? { faults.isEmpty ? nil : .schema(faults) }
}
