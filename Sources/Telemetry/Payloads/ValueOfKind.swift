import JSONText

extension JSONDocument {
    /// Returns the value of `key`, or `nil` if the key is missing or its value is not of the given kind.
    package func value(of key: JSONKey, _ kind: JSONKind, in object: JSONNode) -> JSONNode? {
        guard let value = value(of: key, in: object), self.kind(of: value) == kind else { return nil }
        return value
    }
}
