/// The instructions for further uploads in the body of an answer.
public struct AnswerInstructions: Sendable, Equatable {
    /// The delay in seconds after which the upload must be sent again, or `nil` if the server does not request this.
    ///
    /// A requested delay takes precedence over the status of the answer. If a system specifies milliseconds, they are
    /// rounded up.
    public var retryDelay: Int?
    /// The delay in seconds before the next upload of the same client, or `nil` if the server requests no delay.
    public var nextDelay: Double?
    /// Whether the server accepts no more uploads of the client, for example because its data must be deleted.
    public var endsClient: Bool

    /// Creates instructions, which by default request nothing.
    public init(retryDelay: Int? = nil, nextDelay: Double? = nil, endsClient: Bool = false) {
        self.retryDelay = retryDelay
        self.nextDelay = nextDelay
        self.endsClient = endsClient
    }
}
