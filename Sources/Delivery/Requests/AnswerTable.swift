import Telemetry

/// The meaning of answers: some statuses mean the same for all systems, the others what the system says.
///
/// Source: "Delivery", "What an answer means"; what is particular to a system stands in the document of its format.
public enum AnswerTable {
    /// The outcome of a request that was answered.
    public static func outcome(of answer: Answer, from format: UploadFormat) -> Outcome {
        switch answer.status {
        case 401, 403:
            return .credentialWrong(status: answer.status, reason: answer.reason("the credential is not accepted"))
        case 407:
            return .credentialWrong(status: 407, reason: answer.reason("the proxy does not accept the credential"))
        case 408, 425, 429, 500...:
            return .retryLater(status: answer.status, reason: answer.reason("the server is busy or failing"))
        case 300..<400:
            // A captive portal or a moved host redirects everything: no record is at fault for that.
            return .retryLater(status: answer.status, reason: redirection(answer))
        case ..<200:
            return .retryLater(status: answer.status, reason: "the server answered with no final status")
        default: return format.outcome(of: answer)
        }
    }

    private static func redirection(_ answer: Answer) -> String {
        let place = answer.location.map { " to \(answer.line($0))" } ?? ""
        return "redirected\(place), which is not followed; if the endpoint moved, give its address with --endpoint"
    }
}
