import JSONText

extension JSONDocument {
    /// A policy that accepts repeated keys and unpaired surrogates, because both occur in nested JSON.
    private static let nestedPolicy = JSONReadingPolicy(duplicateKeys: .lastWins, unpairedSurrogates: .keep)

    /// Parses the string at `node` as JSON.
    ///
    /// Returns `false` if `node` is not a string or does not contain JSON.
    package mutating func read(stringAt node: JSONNode, of document: JSONDocument) -> Bool {
        document.kind(of: node) == .string
            && (try? read(document.bytes(of: node).copied(), policy: Self.nestedPolicy)) != nil
    }
}
