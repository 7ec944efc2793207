/// The reason why a request received no answer.
public struct SendError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind of an error, which determines whether the server may have received the request.
    public enum Kind: Sendable, Equatable {
        /// No connection was established, so the server did not receive the request.
        case notConnected
        /// No trusted connection can be established, so another attempt would not help.
        case notTrusted
        /// The request was not sent, because the idle connection had received unexpected data or was closed.
        case unsolicited
        /// The connection was closed before an answer arrived, possibly because it had been idle.
        case disconnected
        /// No valid HTTP answer arrived in time, but the server may have received the request.
        case unanswered
    }

    /// The kind of the error.
    public let kind: Kind
    /// The message, which describes the cause of the error.
    public let description: String

    /// Creates an error with a message that describes its cause.
    public init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }

    /// Whether the server may have received the request.
    public var mayHaveArrived: Bool { kind == .disconnected || kind == .unanswered }
}
