/// The outcome of an upload attempt.
public enum Outcome: Sendable, Equatable {
    /// The server accepted the upload. `note` describes the server's complaint about the contents, or is `nil` if there
    /// is none.
    case delivered(status: Int, note: String? = nil)
    /// The server will never accept the upload.
    case refused(status: Int, reason: String)
    /// The server did not accept the upload, but it can be retried.
    ///
    /// The upload does not count against the quota unless an earlier attempt may have been delivered. `status` is `nil`
    /// if no HTTP status explains the outcome.
    case retryLater(status: Int? = nil, reason: String)
    /// The upload may have been delivered.
    ///
    /// The upload remains in flight, and the next job sends it again with the same id. It counts once against the
    /// quota.
    case unknown(reason: String)
    /// The credential is wrong.
    ///
    /// The upload counts as not sent. However, it remains in flight if an earlier attempt may have been delivered.
    case credentialWrong(status: Int, reason: String, mayHaveArrived: Bool = false)
}

extension Outcome {
    /// Returns the outcome of an upload that the server refused with `answer`.
    ///
    /// The reason consists of the meaning of the HTTP status and an excerpt of the body.
    package static func refused(_ answer: Answer) -> Outcome {
        .refused(status: answer.status, reason: answer.reason(meaning(of: answer.status)))
    }

    private static func meaning(of status: Int) -> String {
        switch status {
        case 200..<300: "the server does not confirm it with status 200"
        case 400: "the server cannot read the request"
        case 404: "the server does not know the path"
        case 405: "the server does not accept the method"
        case 411: "the server requires the length of the body"
        case 413: "the body is too large"
        case 414, 431: "the path or a header is too long"
        default: "the server rejects the request"
        }
    }
}
