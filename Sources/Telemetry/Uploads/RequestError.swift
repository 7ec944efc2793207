/// The reason why a request cannot be created from a record.
public enum RequestError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The record has no target, or its system does not accept the target.
    case noTarget
    /// The account has no credential. The associated value describes the missing setting.
    case noCredential(String)
    /// The credential belongs to another system.
    case otherCredential
    /// The payload does not have the form that the system requires.
    case payload
    /// The body could not be compressed. The associated value describes the compression error.
    case notCompressed(String)

    /// A description of the error in one line.
    public var description: String {
        switch self {
        case .noTarget: "the record has no target in the grammar of its system"
        case .noCredential(let name): "a credential is missing: set \(name)"
        case .otherCredential: "the credential belongs to another system"
        case .payload: "the payload does not have the form that the system requires"
        case .notCompressed(let reason): reason
        }
    }
}
