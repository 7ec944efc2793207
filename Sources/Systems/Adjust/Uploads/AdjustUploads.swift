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
        endpointsOfTypes: Dictionary(texts: [
            AdjustType.deletionRequest: "https://gdpr.adjust.com",
            AdjustType.subscription: "https://subscription.adjust.com",
            AdjustType.purchaseVerification: "https://ssrv.adjust.com",
        ]),
        method: "POST", isTargetPath: { AdjustType.byPath[$0] != nil }, isTargetHeader: isTargetHeader(_:),
        isPathOfRecord: { path, _, type in AdjustType.byPath[path] == type }, list: nil, credentials: nil,
        precedence: Precedence(first: [], deletionRequests: [AdjustType.deletionRequest]), withdrawals: nil,
        holds: AdjustHold.codes,
        body: .custom { payload, _, now throws(RequestError) in try content(of: payload, now: now) },
        answers: .custom { AdjustAnswer($0).outcome }, instructions: { AdjustAnswer($0).instructions })

    private static func isTargetHeader(_ field: HeaderField) -> Bool {
        switch field.name {
        case AdjustHeaders.sdkHeader: AdjustHeaders.isValidSDKName(field.value)
        case AdjustHeaders.agentHeader: AdjustHeaders.isValidUserAgent(field.value)
        default: false
        }
    }

    /// Returns the parameters in `payload` as a form, with `now` as the time of sending.
    ///
    /// Without the time of sending, the server would treat a late package as a new one.
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
