import JSONText

extension JSONDocument {
    /// The policy for JSON in strings.
    ///
    /// Repeated keys and unpaired surrogates are accepted because apps and SDKs write them.
    private static let nestedPolicy = JSONReadingPolicy(duplicateKeys: .lastWins, unpairedSurrogates: .keep)

    /// Reads the JSON that a string of another document contains.
    ///
    /// - Parameters:
    ///   - node: The value in `document`.
    ///   - document: The document that contains the value.
    /// - Returns: Whether the value is a string that contains JSON.
    package mutating func read(stringAt node: JSONNode, of document: JSONDocument) -> Bool {
        document.kind(of: node) == .string
            && (try? read(document.bytes(of: node).copied(), policy: Self.nestedPolicy)) != nil
    }
}
