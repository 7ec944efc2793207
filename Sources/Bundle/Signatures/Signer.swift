/// Who signed a bundle.
public struct Signer: Sendable, Equatable {
    /// As the list of signers names him, such as `ines@example.org`.
    public let principal: String
    /// The key, as `ssh-keygen` tells it: `ED25519 key SHA256:…`.
    public let key: String
}
