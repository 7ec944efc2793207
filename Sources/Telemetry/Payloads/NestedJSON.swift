import JSONText

extension JSONDocument {
    /// Accepts repeated keys and unpaired surrogates, because apps and SDKs write such strings.
    private static let nestedPolicy = JSONReadingPolicy(duplicateKeys: .lastWins, unpairedSurrogates: .keep)

    /// Reads the JSON in a string of another document. Returns whether the value is a string that contains JSON.
    package mutating func read(stringAt node: JSONNode, of document: JSONDocument) -> Bool {
        document.kind(of: node) == .string
            && (try? read(document.bytes(of: node).copied(), policy: Self.nestedPolicy)) != nil
    }
}
