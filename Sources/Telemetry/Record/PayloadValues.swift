import JSONText

extension JSONDocument {
    /// Returns the value of `key`, or `nil` if the value is missing or does not have the given kind.
    package func value(of key: JSONKey, _ kind: JSONKind, in object: JSONNode) -> JSONNode? {
        guard let value = value(of: key, in: object), self.kind(of: value) == kind else { return nil }
        return value
    }

    /// Returns the string at `key`, or `nil` if the value is missing, empty or not a string.
    public func text(_ key: JSONKey, in object: JSONNode) -> String? {
        guard let value = value(of: key, .string, in: object), !bytes(of: value).isEmpty else { return nil }
        return string(of: value)
    }

    /// Returns the string at `key`, which can be empty, or `nil` if the value is missing or not a string.
    package func string(forKey key: JSONKey, in object: JSONNode) -> String? {
        value(of: key, .string, in: object).map { string(of: $0) }
    }

    /// Returns the array at `key`, or `nil` if the value is missing or not an array.
    public func array(_ key: JSONKey, in object: JSONNode) -> JSONNode? { value(of: key, .array, in: object) }
}

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
