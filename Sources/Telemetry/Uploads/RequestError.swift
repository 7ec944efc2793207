/// Why no request can be made of a record.
public enum RequestError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The record does not say where it would go, or names no place in the grammar of its system.
    case noTarget
    /// There is no credential for the account; what to set.
    case noCredential(String)
    /// The credential is that of another system.
    case otherCredential
    /// The payload is not what its system's records hold.
    case payload
    /// The body could not be compressed; why, in words.
    case notCompressed(String)

    /// One line.
    public var description: String {
        switch self {
        case .noTarget: "the record names no place that its system knows"
        case .noCredential(let name): "a credential is missing: set \(name)"
        case .otherCredential: "the credential is that of another system"
        case .payload: "the payload is no list of requests"
        case .notCompressed(let reason): reason
        }
    }
}
