import Files

/// The reason why a signature is not accepted.
public enum SignatureError: Error, Sendable, Equatable, CustomStringConvertible {
    /// There is no signature at the given path.
    case missing(String)
    /// The file at the given path is not exactly one signature.
    case notASignature(String)
    /// The key of the signature at the given path does not belong to an allowed signer.
    case unknownSigner(String)
    /// `ssh-keygen` rejects the signature at the given path for the given reason.
    case rejected(String, reason: String)
    /// `ssh-keygen` cannot be run.
    case program(ProgramError)
    /// A file cannot be read.
    case file(FileError)

    /// A description in one line without a full stop.
    public var description: String {
        switch self {
        case .missing(let path): "not signed: there is no \(path)"
        case .notASignature(let path): "\(path) does not contain exactly one SSH signature"
        case .unknownSigner(let path): "\(path) was not made by any of the allowed signers"
        case .rejected(let path, let reason): "\(path) is not valid: \(reason)"
        case .program(let error): error.description
        case .file(let error): error.description
        }
    }

    /// A hint on how to resolve the error, or `nil` if no hint is available.
    public var remedy: String? {
        switch self {
        case .missing, .notASignature:
            "ask the packer to sign the bundle: ssh-keygen -Y sign -n \(AllowedSigners.namespace) -f KEY BUNDLE"
        case .unknownSigner: "do not use the bundle; if you trust the owner of the key, add it to the list of signers"
        case .rejected: "do not use the bundle; ask the packer about the signature, and check the list of signers"
        case .program(.missing): "install OpenSSH's ssh-keygen (openssh-client)"
        case .program(.notStarted), .file: nil
        }
    }
}
