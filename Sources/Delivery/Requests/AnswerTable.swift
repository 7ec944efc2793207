import Telemetry

/// What each system's answers mean.
///
/// Source: design of the project, section 5; "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", section
/// 8.6; "Sift iOS SDK", section 8; "Leanplum (Mozilla MMA)", section C.5; "Activity Stream New Tab pings", section 3.
public enum AnswerTable {
    /// The outcome of a request that was answered.
    public static func outcome(of answer: Answer, from system: TelemetrySystem) -> Outcome {
        switch answer.status {
        case 401, 403:
            return .credentialWrong(status: answer.status, reason: reason(answer, "the credential is not accepted"))
        case 407:
            return .credentialWrong(status: 407, reason: reason(answer, "the proxy does not accept the credential"))
        case 408, 425, 429, 500...:
            return .retryLater(status: answer.status, reason: reason(answer, "the server is busy or failing"))
        case 300..<400:
            // A captive portal or a moved host redirects everything: no record is at fault for that.
            return .retryLater(status: answer.status, reason: redirection(answer))
        case ..<200:
            return .retryLater(status: answer.status, reason: "the server answered with no final status")
        default:
            break
        }
        if system == .leanplum {
            guard answer.isWhole else {
                return .unknown(reason: "the server's answer, which has to tell, was cut short")
            }
            return LeanplumAnswer(answer).outcome()
        }
        if isSuccess(answer.status, for: system) { return .delivered(status: answer.status) }
        return .refused(status: answer.status, reason: reason(answer, meaning(of: answer.status)))
    }

    private static func isSuccess(_ status: Int, for system: TelemetrySystem) -> Bool {
        switch system {
        case .mozilla, .activityStream: (200..<300).contains(status)
        case .sift, .leanplum: status == 200
        }
    }

    private static func reason(_ answer: Answer, _ meaning: String) -> String {
        answer.excerpt.map { "\(meaning): \($0)" } ?? meaning
    }

    private static func redirection(_ answer: Answer) -> String {
        let place = answer.location.map { " to \(answer.line($0))" } ?? ""
        return "redirected\(place), which is not followed; if the endpoint moved, give its address with --endpoint"
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
