import JSONText

extension JSONDocument {
    /// Removes credentials from a request.
    ///
    /// No SDK stores credentials, and no record may contain any.
    ///
    /// - Parameter object: The request.
    /// - Returns: A note for each removed member, without its value.
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
