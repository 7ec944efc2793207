import JSONText
import Telemetry

/// The answer of a Leanplum server, which tells of each request in a `multi` call whether it was taken.
///
/// Source: "Leanplum (Mozilla MMA): stored requests and the `multi` upload", section C.5.
struct LeanplumAnswer {
    private let answer: Answer
    private var failures = 0
    private var firstMessage: String?
    private var lastMessage: String?
    private var hasMoved = false

    /// Elements of `response` that say where the server is now.
    private static let movingKeys: [JSONKey] = ["apiHost", "apiPath", "devServerHost"]
    /// Messages after which no request of the app can succeed.
    private static let permanentFailures = [
        "App not found", "Invalid access key", "Development mode requested but not permitted",
    ]

    /// Reads the body of an answer; what is not in its documented form says nothing.
    init(_ answer: Answer) {
        self.answer = answer
        guard let fields = try? JSONFields(answer.body), let elements = fields.objects("response") else { return }
        for element in elements {
            let text = element.object("error")?.text("message")
            let hasWords = text?.unicodeScalars.contains { $0.properties.generalCategory != .control } ?? false
            let message = hasWords ? text : nil
            lastMessage = message
            guard element.boolean("success") == false else { continue }
            failures += 1
            if firstMessage == nil { firstMessage = message }
            if Self.movingKeys.contains(where: { element.text($0) != nil }) { hasMoved = true }
        }
    }

    /// The outcome of a call whose answer has a status other than those that all systems share.
    func outcome() -> Outcome {
        let status = answer.status
        guard LeanplumServer.deliveredStatuses.contains(status) else {
            let reason = shown(lastMessage) ?? "the server rejects the request"
            let isPermanent = lastMessage.map { Self.permanentFailures.contains(where: $0.hasPrefix) } ?? false
            return isPermanent
                ? .credentialWrong(status: status, reason: reason) : .refused(status: status, reason: reason)
        }
        if hasMoved {
            return .retryLater(
                status: status, reason: "the server names another endpoint; if it moved, give it with --endpoint")
        }
        guard failures > 0 else { return .delivered(status: status) }
        let first = shown(firstMessage).map { ": \($0)" } ?? ""
        return .delivered(status: status, note: "\(failures) of the events not successful\(first)")
    }
    /// A message as it may be shown; nil if there is nothing to show.
    private func shown(_ message: String?) -> String? {
        let line = message.map { answer.line($0) } ?? ""
        return line.isEmpty ? nil : line
    }
}
