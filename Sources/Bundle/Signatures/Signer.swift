import JSONText

/// Who signed a bundle.
public struct Signer: Sendable, Equatable {
    /// As the list of signers names him, such as `ines@example.org`.
    public let principal: String
    /// The key, as `ssh-keygen` tells it: `ED25519 key SHA256:…`.
    public let key: String

    /// The signer for machines.
    public var json: CanonicalObject {
        var object = CanonicalObject()
        object.set("key", string: key)
        object.set("principal", string: principal)
        return object
    }
}
