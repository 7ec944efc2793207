import Bytes
import JSONText
import Telemetry

/// The format of uploads, which are forms without a signature.
///
/// Source: "Adjust iOS SDK: the package queue on disk, records, upload", section 10.
enum AdjustUploads {
    /// The only status that confirms an upload.
    static let deliveredStatuses = 200...200

    static let format = UploadFormat(
        endpoint: "https://app.adjust.com",
        endpointsOfTypes: [
            AdjustType.deletionRequest: "https://gdpr.adjust.com",
            AdjustType.subscription: "https://subscription.adjust.com",
            AdjustType.purchaseVerification: "https://ssrv.adjust.com",
        ],
        method: "POST", isTargetPath: { AdjustType.byPath[$0] != nil }, isTargetHeader: isTargetHeader(_:),
        isPathOfRecord: { path, _, type in AdjustType.byPath[path] == type }, list: nil, credentials: nil,
        precedence: Precedence(first: [], deletionRequests: [AdjustType.deletionRequest]), holds: AdjustHold.codes,
        body: .custom { payload, _, now throws(RequestError) in try content(of: payload, now: now) },
        answers: .custom { AdjustAnswer($0).outcome }, instructions: { AdjustAnswer($0).instructions })

    private static func isTargetHeader(_ field: HeaderField) -> Bool {
        switch field.name {
        case AdjustClient.sdkHeader: AdjustClient.isSDK(field.value)
        case AdjustClient.agentHeader: AdjustClient.isAgent(field.value)
        default: false
        }
    }

    /// Returns the parameters as a form with the time of sending.
    ///
    /// Without this time, the server would treat a late package as a new one.
    private static func content(of payload: [UInt8], now: Timestamp) throws(RequestError) -> RequestContent {
        guard let document = try? JSONDocument(payload), document.kind(of: document.root) == .object else {
            throw .payload
        }
        var body: [UInt8] = []
        for position in 0..<document.memberCount(of: document.root) {
            let member = document.member(at: position, of: document.root)
            guard document.kind(of: member.value) == .string else { throw .payload }
            PercentEncoding.append(formValue: document.bytes(of: member.key).copied(), to: &body)
            body.append(UInt8(ascii: "="))
            PercentEncoding.append(formValue: document.bytes(of: member.value).copied(), to: &body)
            body.append(UInt8(ascii: "&"))
        }
        body += "sent_at=".utf8
        PercentEncoding.append(formValue: now.adjustText.utf8, to: &body)
        return RequestContent(
            headers: [HeaderField("Content-Type", "application/x-www-form-urlencoded")], body: body,
            isCompressed: false)
    }
}

/// The answer of the server, whose body is a JSON object.
///
/// Source: "Adjust iOS SDK: the package queue on disk, records, upload", section 10.3.
struct AdjustAnswer {
    private let answer: Answer
    /// The members of the body, or `nil` if it is no object, such as the page of a captive portal.
    private let fields: JSONFields?

    init(_ answer: Answer) {
        self.answer = answer
        fields = try? JSONFields(answer.body)
    }

    var outcome: Outcome {
        let status = answer.status
        guard answer.isWhole else { return .unknown(reason: "the server's answer was cut short") }
        guard let fields else {
            let isSuccess = (200..<300).contains(status)
            return isSuccess
                ? .retryLater(status: status, reason: answer.reason("the answer is not from Adjust"))
                : .refused(answer)
        }
        let texts = ["error", "message"].compactMap { fields.text(JSONKey($0)) }
        let message = texts.first { !$0.isEmpty }.map { answer.line($0) } ?? ""
        if AdjustUploads.deliveredStatuses.contains(status) {
            return .delivered(status: status, note: message.isEmpty || message == "OK" ? nil : message)
        }
        return .refused(status: status, reason: message.isEmpty ? "the server rejects the request" : message)
    }

    var instructions: AnswerInstructions {
        AnswerInstructions(
            retryDelay: fields?.integer("retry_in").map { max(0, $0) / 1000 + ($0 % 1000 > 0 ? 1 : 0) },
            nextDelay: fields?.integer("continue_in").map { Double(max(0, $0)) / 1000 },
            endsClient: fields?.text("tracking_state") == "opted_out")
    }
}
