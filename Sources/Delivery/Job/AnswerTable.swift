import Telemetry

/// The rules that determine the outcome of an upload from the answer.
///
/// Some statuses have the same meaning for all systems. Each system defines the meaning of the other statuses. An
/// instruction to send the upload again takes precedence over the status.
///
/// Sources: "Delivery", "The meaning of an answer"; the format document of each system.
public enum AnswerTable {
    /// Returns the outcome of a request that received `answer`, whose body contains `instructions`.
    public static func outcome(
        of answer: Answer, _ instructions: AnswerInstructions = AnswerInstructions(), from format: any UploadFormat
    ) -> Outcome {
        // The body is not part of the reason, because it can contain data about the client.
        guard instructions.retryDelay == nil else {
            return .retryLater(status: answer.status, reason: "the server requires another attempt later")
        }
        func reason(_ meaning: String) -> String {
            format.answersContainClientData ? meaning : answer.reason(meaning)
        }
        switch answer.status {
        case 401, 403:
            return .credentialWrong(status: answer.status, reason: reason("the credential is not accepted"))
        case 407:
            return .credentialWrong(status: 407, reason: answer.reason("the proxy does not accept the credential"))
        case 408, 425, 429, 500...:
            return .retryLater(status: answer.status, reason: reason("the server is busy or failing"))
        case 300..<400:
            // A captive portal or a moved host redirects all requests, so the record is not at fault.
            return .retryLater(status: answer.status, reason: redirection(answer))
        case ..<200: return .retryLater(status: answer.status, reason: "the server answered with no final status")
        default: return format.outcome(of: answer)
        }
    }

    private static func redirection(_ answer: Answer) -> String {
        let place = answer.location.map { " to \(answer.line($0))" } ?? ""
        return "redirected\(place), which is not followed; if the endpoint moved, give its address with --endpoint"
    }
}

extension Outcome {
    /// The name of the outcome in logs.
    var name: String {
        switch self {
        case .delivered: "delivered"
        case .refused: "refused"
        case .retryLater: "later"
        case .unknown: "unknown"
        case .credentialWrong: "credential"
        }
    }

    /// The HTTP status of the answer that determined the outcome, or `nil` if no answer did or the outcome is unknown.
    var status: Int? {
        switch self {
        case .delivered(let status, _), .refused(let status, _), .credentialWrong(let status, _, _): status
        case .retryLater(let status, _): status
        case .unknown: nil
        }
    }

    /// The reason given by the server or this program, or `nil` if the upload succeeded without a remark.
    var reason: String? {
        switch self {
        case .delivered(_, let note): note
        case .refused(_, let reason), .retryLater(_, let reason), .unknown(let reason),
            .credentialWrong(_, let reason, _):
            reason
        }
    }

    /// Whether the outcome is final, so that no later job sends the upload again unless the operator requests it.
    var isSettled: Bool {
        switch self {
        case .delivered, .refused: true
        case .retryLater, .unknown, .credentialWrong: false
        }
    }
}
