import JSONText

extension JSONDocument {
    /// Removes credentials from a request: no SDK stores any there, and no record may carry one.
    /// - Returns: what there is to note, without their values.
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
