import JSONText

/// The signer of a bundle.
public struct Signer: Sendable, Equatable {
    /// The name of the signer in the list of allowed signers, such as `ines@example.org`.
    public let principal: String
    /// The description of the key as `ssh-keygen` prints it, such as `ED25519 key SHA256:…`.
    public let keyDescription: String

    /// The signer as canonical JSON.
    public var json: CanonicalObject {
        var object = CanonicalObject()
        object.set("key", string: keyDescription)
        object.set("principal", string: principal)
        return object
    }
}
