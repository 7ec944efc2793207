/// The outcome of an upload: what its answer, or the lack of one, means.
public enum Outcome: Sendable, Equatable {
    /// The server took it; the note says what it did not like about the contents.
    case delivered(status: Int, note: String? = nil)
    /// The server will never take it; why, in words.
    case refused(status: Int, reason: String)
    /// It was surely not taken and may be tried again: the quota is given back, unless an earlier attempt may have arrived.
    case retryLater(status: Int? = nil, reason: String)
    /// It may have arrived: it stays in flight, is sent again with the same id by the next job, and counts once.
    case unknown(reason: String)
    /// The credential is wrong: as if it had not been sent, unless an earlier attempt may have arrived; then it stays in
    /// flight.
    case credentialWrong(status: Int, reason: String, mayHaveArrived: Bool = false)
}

extension Outcome {
    /// The server will never take what it answered so, by what the status means in HTTP.
    package static func refused(_ answer: Answer) -> Outcome {
        .refused(status: answer.status, reason: answer.reason(meaning(of: answer.status)))
    }

    private static func meaning(of status: Int) -> String {
        switch status {
        case 200..<300: "the server does not confirm it with status 200"
        case 400: "the server cannot read the request"
        case 404: "the server knows no such path"
        case 405: "the server does not take this method"
        case 411: "the server misses the length of the body"
        case 413: "the body is too large"
        case 414, 431: "the path or a header is too long"
        default: "the server refuses it"
        }
    }
}
