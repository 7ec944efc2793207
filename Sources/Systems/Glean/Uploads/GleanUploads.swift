import JSONText
import Telemetry

/// How a ping is uploaded: its body as it is, compressed, to the path that the SDK stored with it.
///
/// Source: "Mozilla Glean SDK on iOS: on-disk stores, normalized pings, upload", section 11.
struct GleanUploads: UploadFormat {
    let endpoint = "https://\(GleanServer.host)"
    let method = GleanServer.method
    let list: ListFormat? = nil
    let credentials: CredentialFormat? = nil
    /// Requests for deletion go first, and end what their client has left.
    let precedence = Precedence(
        first: [GleanName.usageDeletionRequest], deletionRequests: [GleanName.deletionRequest])
    /// A ping that must not show where it comes from can only be sent by an uploader that hides it.
    let holds = [
        HoldCode("capability", "it may only be sent in a way that hides where it comes from", isFinal: true),
        HoldCode("incomplete", "the SDK had not finished writing it"),
        HoldCode("metadata", "what its file says of it cannot be read in full"),
        HoldCode("headers", "its file names header fields that may not be sent"),
    ]

    func isTarget(_ target: Target) -> Bool {
        (target.method == nil || target.method == method) && GleanPath(target.path.utf8.span) != nil
    }

    func isTargetHeader(_ field: HeaderField) -> Bool { PingTags.isAllowed(field) }

    /// The server tells documents apart by the path alone.
    func isTargetItsOwn(_ record: borrowing Record) -> Bool {
        guard let target = record.target else { return true }
        let path = target.path.utf8.span
        guard let parts = GleanPath(path) else { return false }
        return path.extracting(parts.documentID).equals(record.id) && path.extracting(parts.ping).equals(record.type)
    }

    func account(of record: borrowing Record, using document: inout JSONDocument) -> Account? { nil }

    func content(
        of payload: [UInt8], to target: Target, credential: Credential, now: Timestamp
    ) throws(RequestError) -> RequestContent {
        RequestContent(
            headers: [HeaderField("Content-Type", "application/json; charset=utf-8")], body: payload,
            isCompressed: true)
    }

    func outcome(of answer: Answer) -> Outcome {
        (200..<300).contains(answer.status) ? .delivered(status: answer.status) : .refused(answer)
    }
}
