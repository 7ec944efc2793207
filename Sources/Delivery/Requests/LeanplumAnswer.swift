import JSONText

/// What a Leanplum server says about the requests in a `multi` call.
///
/// Source: "Leanplum (Mozilla MMA): stored requests and the `multi` upload", section C.5.
struct LeanplumAnswer {
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
    init(_ body: [UInt8]) {
        guard let fields = try? JSONFields(body), let elements = fields.objects("response") else { return }
        for element in elements {
            let text = element.object("error")?.text("message")?.shortLine
            let message = text?.isEmpty == false ? text : nil
            lastMessage = message
            guard element.boolean("success") == false else { continue }
            failures += 1
            if firstMessage == nil { firstMessage = message }
            if Self.movingKeys.contains(where: { element.text($0) != nil }) { hasMoved = true }
        }
    }

    /// The outcome of a call with this answer and a status other than those that all systems share.
    func outcome(status: Int) -> Outcome {
        guard status == 200 else {
            if let lastMessage, Self.permanentFailures.contains(where: lastMessage.hasPrefix) {
                return .credentialWrong(status: status, reason: lastMessage)
            }
            return .refused(status: status, reason: lastMessage ?? "the server refuses it")
        }
        if hasMoved {
            return .retryLater(
                status: status, reason: "the server names another endpoint; if it moved, give it with --endpoint")
        }
        guard failures > 0 else { return .delivered(status: status) }
        let first = firstMessage.map { ": \($0)" } ?? ""
        return .delivered(status: status, note: "\(failures) of the events not successful\(first)")
    }
}
