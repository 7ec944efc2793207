import JSONText

extension JSONDocument {
    /// Removes all credentials from a request, and returns a note for each.
    mutating func removeLeanplumCredentials(from object: JSONNode) -> [String] {
        guard kind(of: object) == .object else { return [] }
        var notes: [String] = []
        for key in LeanplumFields.credentialKeys {
            guard let value = value(of: key, in: object) else { continue }
            removeMember(withValue: value, from: object)
            notes.append("credential_removed:\(key)")
        }
        return notes
    }
}
