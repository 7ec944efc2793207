import JSONText

extension JSONDocument {
    /// The policy for JSON in strings, which can have repeated keys and unpaired surrogates.
    private static let nestedPolicy = JSONReadingPolicy(duplicateKeys: .lastWins, unpairedSurrogates: .keep)

    /// Reads the JSON in a string of `document`, and returns whether the value is such a string.
    package mutating func read(stringAt node: JSONNode, of document: JSONDocument) -> Bool {
        document.kind(of: node) == .string
            && (try? read(document.bytes(of: node).copied(), policy: Self.nestedPolicy)) != nil
    }
}
