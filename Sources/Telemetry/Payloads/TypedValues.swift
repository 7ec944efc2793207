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

    /// Returns the array at `key`, or `nil` if the value is missing or not an array.
    public func array(_ key: JSONKey, in object: JSONNode) -> JSONNode? { value(of: key, .array, in: object) }
}
