import JSONText
import Telemetry

/// An answer from a Leanplum server to a `multi` call, which contains the result of each request.
///
/// Source: "Leanplum (Mozilla MMA): stored requests and the `multi` upload", section C.5.
struct LeanplumAnswer {
    private let answer: Answer
    private var failureCount = 0
    private var firstFailureMessage: String?
    private var lastMessage: String?
    private var serverHasMoved = false

    /// The keys with which a server reports its new address.
    private static let addressKeys: [JSONKey] = ["apiHost", "apiPath", "devServerHost"]
    /// The prefixes of the error messages after which all further requests of the app would fail.
    private static let permanentFailures = [
        "App not found", "Invalid access key", "Development mode requested but not permitted",
    ]

    /// Parses the body of an answer.
    ///
    /// Elements of `response` that are not objects are ignored.
    init(_ answer: Answer) {
        self.answer = answer
        guard let fields = try? JSONFields(answer.body) else { return }
        for element in fields.objectsIgnoringOthers("response") {
            let text = element.object("error")?.text("message")
            let isPrintable = text?.unicodeScalars.contains { $0.properties.generalCategory != .control } ?? false
            let message = isPrintable ? text : nil
            lastMessage = message
            guard element.boolean("success") == false else { continue }
            failureCount += 1
            if firstFailureMessage == nil { firstFailureMessage = message }
            if Self.addressKeys.contains(where: { element.text($0) != nil }) { serverHasMoved = true }
        }
    }

    /// Returns the outcome for an answer with a system-specific status.
    func outcome() -> Outcome {
        let status = answer.status
        guard LeanplumServer.deliveredStatuses.contains(status) else {
            let reason = displayText(lastMessage) ?? "the server rejects the request"
            let isPermanent = lastMessage.map { Self.permanentFailures.contains(where: $0.hasPrefix) } ?? false
            return isPermanent
                ? .credentialWrong(status: status, reason: reason) : .refused(status: status, reason: reason)
        }
        if serverHasMoved {
            return .retryLater(
                status: status, reason: "the server names another endpoint; if it moved, give it with --endpoint")
        }
        guard failureCount > 0 else { return .delivered(status: status) }
        let first = displayText(firstFailureMessage).map { ": \($0)" } ?? ""
        return .delivered(status: status, note: "\(failureCount) of the events not successful\(first)")
    }

    /// Returns a message as a printable line, or `nil` if it is empty.
    private func displayText(_ message: String?) -> String? {
        let line = message.map { answer.line($0) } ?? ""
        return line.isEmpty ? nil : line
    }
}
