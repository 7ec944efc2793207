/// The outcome of an upload, which is derived from its answer or the lack of one.
public enum Outcome: Sendable, Equatable {
    /// The server accepted the upload, with a note if it complained about the contents.
    case delivered(status: Int, note: String? = nil)
    /// The server will never accept the upload.
    case refused(status: Int, reason: String)
    /// The server did not accept the upload, which can be retried.
    ///
    /// The quota is returned unless an earlier attempt may have been delivered.
    case retryLater(status: Int? = nil, reason: String)
    /// The upload may have been delivered.
    ///
    /// It stays in flight, is sent again by the next job with the same id, and counts once against the quota.
    case unknown(reason: String)
    /// The credential is wrong.
    ///
    /// The upload counts as not sent, unless an earlier attempt may have been delivered. In this case it stays in
    /// flight.
    case credentialWrong(status: Int, reason: String, mayHaveArrived: Bool = false)
}

extension Outcome {
    /// Returns a refusal with the HTTP meaning of the status as its reason.
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
