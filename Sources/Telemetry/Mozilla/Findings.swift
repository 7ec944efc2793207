/// What normalization found in one payload.
struct Findings {
    /// Changes and oddities: a case id, a space, free text.
    var notes: [String] = []
    /// Why the payload does not have the documented form.
    var faults: [String] = []

    mutating func note(_ text: String) { notes.append(text) }
    mutating func fault(_ text: String) { faults.append(text) }

    /// The hold that the faults amount to, if there are any.
    var hold: Hold? { faults.isEmpty ? nil : .schema(Array(faults.prefix(Self.mostFaultsNamed))) }

    /// A payload full of faults needs no more than these to be told.
    private static let mostFaultsNamed = 8
}
