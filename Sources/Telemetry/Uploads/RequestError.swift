/// The reason why a request cannot be created from a record.
public enum RequestError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The record has no target, or a target that is not in the grammar of its system.
    case noTarget
    /// There is no credential for the account, because the given setting is missing.
    case noCredential(String)
    /// The credential belongs to another system.
    case otherCredential
    /// The payload does not have the form of the system.
    case payload
    /// The body could not be compressed, for the given reason.
    case notCompressed(String)

    /// A description of the error in one line.
    public var description: String {
        switch self {
        case .noTarget: "the record has no target in the grammar of its system"
        case .noCredential(let name): "a credential is missing: set \(name)"
        case .otherCredential: "the credential belongs to another system"
        case .payload: "the payload is not a list of requests"
        case .notCompressed(let reason): reason
        }
    }
}
