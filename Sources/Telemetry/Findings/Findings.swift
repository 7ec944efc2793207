/// The notes and faults that normalization found in one payload.
package struct Findings {
    /// Changes and oddities: a case id, a space, free text.
    package var notes: [String] = []
    /// Why the payload does not have the documented form.
    package var faults: [String] = []

    /// Begins with nothing found.
    package init() {}

    /// Notes a change or an oddity.
    package mutating func note(_ text: String) { notes.append(text) }
    /// Adds a reason why the payload does not have the documented form.
    package mutating func fault(_ text: String) { faults.append(text) }

    /// The hold that the faults amount to, if there are any.
    package var hold: Hold? { faults.isEmpty ? nil : .schema(Array(faults.prefix(Self.mostFaultsNamed))) }

    /// A payload full of faults needs no more than these to be told.
    private static let mostFaultsNamed = 8
}
