/// The reason why a request received no answer.
public struct SendError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The possible states of the request.
    public enum Kind: Sendable, Equatable {
        /// No connection was established, so that the server did not receive the request.
        case notConnected
        /// The server cannot be trusted or cannot be found, so that another attempt would not help.
        case notTrusted
        /// Data arrived on an idle connection before the request was sent, so that the request was not sent.
        case unsolicited
        /// The connection, which may have been idle, was closed before an answer arrived.
        case disconnected
        /// No valid HTTP answer arrived in time, so that the server may have received the request.
        case unanswered
    }

    /// The state of the request.
    public let kind: Kind
    /// The message.
    public let description: String

    /// Creates an error.
    public init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }

    /// Whether the server may have received the request.
    public var mayHaveArrived: Bool { kind == .disconnected || kind == .unanswered }
}
