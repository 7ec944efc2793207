/// Why a request got no answer.
public struct SendError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What is known about the request.
    public enum Kind: Sendable, Equatable {
        /// No connection came up: the server did not see it.
        case notConnected
        /// The server is not the one that it should be, or cannot be found at all; another attempt would not help.
        case notTrusted
        /// Something arrived on an idle connection before the request went out, which was therefore not sent.
        case unsolicited
        /// The connection ended before an answer: one that had been idle, or one that was cut.
        case disconnected
        /// No answer in time, or one that is no HTTP: the server may have the request.
        case unanswered
    }

    /// What is known about the request.
    public let kind: Kind
    /// What went wrong.
    public let description: String

    /// Makes a failure.
    public init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }

    /// Whether the server may have the request.
    public var mayHaveArrived: Bool { kind == .disconnected || kind == .unanswered }
}
