import Files
import Processes

/// Why a bundle is not taken for signed.
public enum SignatureError: Error, Sendable, Equatable, CustomStringConvertible {
    /// There is no signature of that name.
    case missing(String)
    /// The file is no signature, or more than one.
    case notASignature(String)
    /// The key that made the signature is none of the signers', or not any more.
    case unknownSigner(String)
    /// `ssh-keygen` refuses the signature, for the reason that it says.
    case refused(String, reason: String)
    /// `ssh-keygen` cannot be run.
    case program(ProgramError)
    /// A file cannot be read.
    case file(FileError)

    /// One line without a full stop.
    public var description: String {
        switch self {
        case .missing(let path): "not signed: there is no \(path)"
        case .notASignature(let path): "\(path) is not one SSH signature, and nothing else"
        case .unknownSigner(let path): "none of the signers made \(path)"
        case .refused(let path, let reason): "\(path) is not good: \(reason)"
        case .program(let error): error.description
        case .file(let error): error.description
        }
    }

    /// What the user can do about it.
    public var remedy: String? {
        switch self {
        case .missing, .notASignature:
            "ask for the signature of who packed it: ssh-keygen -Y sign -n \(Signers.namespace) -f KEY BUNDLE"
        case .unknownSigner: "do not use it unless you know whose key that is, and add that to the list of signers"
        case .refused: "do not use it until that is settled: ask who packed it, and look at the list of signers"
        case .program(.missing): "install OpenSSH's ssh-keygen (openssh-client)"
        case .program(.notStarted), .file: nil
        }
    }
}
