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
    let holds = [
        HoldCode("attribution", "would count late, as an installation, a session or fraud"),
        HoldCode("consent", "contains a choice that the user may have changed since"),
        HoldCode("disabled", "is from an app whose SDK is switched off"),
        HoldCode(Hold.forgotten.code, "is from a device that the user asked Adjust to forget", isFinal: true),
        HoldCode("signature", "would lack the signature that the server may demand"),
        HoldCode("superseded", "was sent or dropped by another version of the SDK"),
    ]
    let answersContainClientData = true

    func isTargetPath(_ path: String) -> Bool { AdjustType.byPath[path] != nil }

    func isPath(_ path: String, ofID id: String, type: String) -> Bool { AdjustType.byPath[path] == type }

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
        var form = FormWriter()
        for member in document.members(of: document.root) {
            guard document.kind(of: member.value) == .string else { throw .payload }
            form.append(document.bytes(of: member.key).copied(), document.bytes(of: member.value).copied())
        }
        form.append("sent_at".utf8, now.adjustText.utf8)
        return form.content
    }

    // MARK: Answers

    /// Returns the outcome that the status and the JSON object in the body state.
    ///
    /// Source: "Adjust iOS SDK: the package queue on disk, records, upload", section 10.3.
    func outcome(of answer: Answer) -> Outcome {
        let status = answer.status
        guard answer.isWhole else { return .unknown(reason: "the server's answer was cut short") }
        // A body without an object is, for example, the page of a captive portal.
        guard let fields = try? JSONFields(answer.body) else {
            // Only pages and plain text are quoted, because damaged JSON can contain ids of the client.
            var page = answer
            let first = page.body.first { $0 > 0x20 } ?? 0
            if first != UInt8(ascii: "<"), !first.isLetter { page.body = [] }
            return (200..<300).contains(status)
                ? .retryLater(status: status, reason: page.reason("the answer is not from Adjust")) : .refused(page)
        }
        let texts = ["error", "message"].compactMap { fields.text(JSONKey($0)) }
        let message = texts.first { !$0.isEmpty }.map { answer.line($0) } ?? ""
        if status == 200 { return .delivered(status: status, note: ["", "OK"].contains(message) ? nil : message) }
        return .refused(status: status, reason: message.isEmpty ? "the server rejects the request" : message)
    }

    func instructions(in answer: Answer) -> AnswerInstructions {
        let fields = try? JSONFields(answer.body)
        return AnswerInstructions(
            retryDelay: fields?.integer("retry_in").map { max(0, $0) / 1000 + ($0 % 1000 > 0 ? 1 : 0) },
            nextDelay: fields?.integer("continue_in").map { Double(max(0, $0)) / 1000 },
            endsClient: fields?.text("tracking_state") == "opted_out")
    }
}

// MARK: - Captured requests

/// The format of captured requests to Adjust's servers.
///
/// Source: "Adjust iOS SDK: the package queue on disk, records, upload", section 11.
struct AdjustRequests: RequestFormat {
    let hosts = ["app", "gdpr", "subscription", "ssrv", "analytics", "consent"].flatMap { subdomain in
        [
            "adjust.com", "adjust.io", "adjust.net.in", "adjust.world", "adjust.cn", "eu.adjust.com", "tr.adjust.com",
            "us.adjust.com",
        ].map { CapturedHost("\(subdomain).\($0)") }
    }
    let methods = ["POST"]
    let body = CapturedBody.fields
    let headers = [AdjustHeaders.sdkHeader, AdjustHeaders.agentHeader]
    let secretHeaders = ["authorization"]
    let payloadsRepeat = true

    func isUpload(_ parts: [[UInt8]]) -> Bool { AdjustType.path(ofParts: parts) != nil }

    func path(of address: WebAddress) -> String { AdjustType.path(ofParts: address.parts) ?? address.path }

    /// Recognizes decoded fields by a time in the form that the SDK writes.
    func areDecoded(_ fields: [FormField]) -> Bool {
        fields.contains {
            $0.name.elementsEqual(AdjustParameters.createdAt.utf8) && Timestamp(adjust: $0.value.span) != nil
        }
    }

    func record(of upload: CapturedUpload, in document: inout JSONDocument) throws(BodyError) -> Record {
        guard let path = AdjustType.path(ofParts: upload.route?.parts ?? []), let type = AdjustType.byPath[path] else {
            throw .invalid("the path is none that the SDK uses")
        }
        let sdks = upload.headers.values(of: AdjustHeaders.sdkHeader)
        let sdk = sdks.count == 1 ? sdks[0] : nil
        // Since version 4 of the SDK, the system or the app sets the user agent, so the user agent is not kept.
        let hasOwnAgent = sdk.flatMap { AdjustHeaders.version(ofSDK: $0) }?.lexicographicallyPrecedes([4]) == true
        var request = AdjustUpload(
            path: path, type: type, sdk: sdk,
            agent: hasOwnAgent ? upload.headers.values(of: AdjustHeaders.agentHeader).first : nil,
            needsSignature: secretHeaders.contains { !upload.headers.values(of: $0).isEmpty })
        var record = upload.completed(
            request.record(from: &document, isStored: false, captureTime: upload.time, source: upload.source))
        record.target?.headers = request.headers
        return record
    }
}

/// The header fields that identify the SDK and the app.
///
/// Source: "Adjust iOS SDK: the package queue on disk, records, upload", section 7.4.
enum AdjustHeaders {
    static let sdkHeader = "Client-Sdk"
    static let agentHeader = "User-Agent"

    /// Returns whether `text` can be sent as the name of the SDK.
    static func isValidSDKName(_ text: String) -> Bool {
        guard let first = text.utf8.first, first.isLetter || first.isDigit, text.utf8.count <= 64 else { return false }
        return text.utf8.allSatisfy { $0.isLetter || $0.isDigit || $0.isOne(of: "._@+-") }
    }

    /// Returns whether `text` can be sent as the name of the app.
    static func isValidUserAgent(_ text: String) -> Bool {
        (1...512).contains(text.utf8.count) && text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
    }

    /// Returns the version in a name such as `unity4.11.4@ios4.11.5`, or `nil` if there is none.
    static func version(ofSDK name: String) -> [Int]? {
        let own = name.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
        guard own.hasPrefix("ios") else { return nil }
        let numbers = own.dropFirst(3).split(separator: ".", omittingEmptySubsequences: false).map {
            $0.utf8.allSatisfy(\.isDigit) ? Int($0) : nil
        }
        return numbers.contains(nil) ? nil : numbers.compactMap(\.self)
    }
}
