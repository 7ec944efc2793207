import Bytes
import JSONText
import Telemetry

/// The format of uploads, which are forms without a signature.
///
/// Source: "Adjust iOS SDK: the package queue on disk, records, upload", section 10.
struct AdjustUploads: UploadFormat {
    let endpoint = "https://app.adjust.com"
    let endpointsOfTypes = Dictionary(texts: [
        AdjustType.deletionRequest: "https://gdpr.adjust.com",
        AdjustType.subscription: "https://subscription.adjust.com",
        AdjustType.purchaseVerification: "https://ssrv.adjust.com",
    ])
    let precedence = Precedence(first: [], deletionRequests: [AdjustType.deletionRequest])
    let holds = AdjustHold.codes
    let answersContainClientData = true

    func isTargetPath(_ path: String) -> Bool { AdjustType.byPath[path] != nil }

    func isPath(_ path: String, ofID id: String, type: String) -> Bool { AdjustType.byPath[path] == type }

    func outcome(of answer: Answer) -> Outcome { AdjustAnswer(answer).outcome }

    func instructions(in answer: Answer) -> AnswerInstructions { AdjustAnswer(answer).instructions }

    func isTargetHeader(_ field: HeaderField) -> Bool {
        switch field.name {
        case AdjustHeaders.sdkHeader: AdjustHeaders.isValidSDKName(field.value)
        case AdjustHeaders.agentHeader: AdjustHeaders.isValidUserAgent(field.value)
        default: false
        }
    }

    /// Returns the parameters in `payload` as a form, with `now` as the time of sending.
    ///
    /// Without the time of sending, the server would treat a late package as a new one.
    func content(
        of payload: [UInt8], credential: Credential, now: Timestamp
    ) throws(RequestError) -> RequestContent {
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
        return RequestContent(type: "application/x-www-form-urlencoded", body: body)
    }
}

// MARK: - Answers

/// An answer from Adjust's server, with a JSON object as its body.
///
/// Source: "Adjust iOS SDK: the package queue on disk, records, upload", section 10.3.
struct AdjustAnswer {
    private let answer: Answer
    /// The members of the body, or `nil` if the body is not a JSON object but, for example, the page of a captive
    /// portal.
    private let fields: JSONFields?

    init(_ answer: Answer) {
        self.answer = answer
        fields = try? JSONFields(answer.body)
    }

    var outcome: Outcome {
        let status = answer.status
        guard answer.isWhole else { return .unknown(reason: "the server's answer was cut short") }
        guard let fields else {
            // Only pages and plain text are quoted, because damaged JSON can contain ids of the client.
            var page = answer
            let first = page.body.first { $0 > 0x20 } ?? 0
            if first != UInt8(ascii: "<"), !first.isLetter { page.body = [] }
            return (200..<300).contains(status)
                ? .retryLater(status: status, reason: page.reason("the answer is not from Adjust")) : .refused(page)
        }
        let texts = ["error", "message"].compactMap { fields.text(JSONKey($0)) }
        let message = texts.first { !$0.isEmpty }.map { answer.line($0) } ?? ""
        if status == 200 {
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

// MARK: - Holds

/// The holds of Adjust's records, except for the holds that all systems share.
///
/// Source: "Adjust iOS SDK: the package queue on disk, records, upload", section 7.3.
enum AdjustHold {
    static let attribution = Hold("attribution")
    static let consent = Hold("consent")
    static let disabled = Hold("disabled")
    static let signature = Hold("signature")
    static let superseded = Hold("superseded")

    static let codes = [
        HoldCode(attribution.code, "would count late, as an installation, a session or fraud"),
        HoldCode(consent.code, "contains a choice that the user may have changed since"),
        HoldCode(disabled.code, "is from an app whose SDK is switched off"),
        HoldCode(Hold.forgotten.code, "is from a device that the user asked Adjust to forget", isFinal: true),
        HoldCode(signature.code, "would lack the signature that the server may demand"),
        HoldCode(superseded.code, "was sent or dropped by another version of the SDK"),
    ]
}
