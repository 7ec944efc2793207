import JSONText
import Telemetry

/// How a ping is uploaded: its measurements as they are, to the path that the app stored with them.
///
/// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", sections 8.1, 8.2 and 8.6.
struct MozillaUploads: UploadFormat {
    let endpoint = "https://\(MozillaServer.host)"
    let method = MozillaServer.method
    let list: ListFormat? = nil
    let credentials: CredentialFormat? = nil
    let precedence = Precedence.none
    let holds: [HoldCode] = []

    func isTarget(_ target: Target) -> Bool {
        target.isMozillaSubmission
    }

    /// Its requests carry nothing of a record in their headers.
    func isTargetHeader(_ field: HeaderField) -> Bool { false }

    /// Mozilla's servers tell documents apart by the path alone: a ping that goes to another document's path could take
    /// that document's place.
    func isTargetItsOwn(_ record: borrowing Record) -> Bool {
        guard let target = record.target else { return true }
        let path = target.path.utf8.span
        guard let parts = SubmitPath(path) else { return false }
        return path.extracting(parts.documentID).equals(record.id) && path.extracting(parts.type).equals(record.type)
    }

    func account(of record: borrowing Record, using document: inout JSONDocument) -> Account? { nil }

    func content(
        of payload: [UInt8], to target: Target, credential: Credential, now: Timestamp
    ) throws(RequestError) -> RequestContent {
        RequestContent(
            headers: [HeaderField("Content-Type", "application/json; charset=utf-8")], body: payload,
            isCompressed: false)
    }

    /// Any 2xx ends an upload, as it does for the apps, while ``MozillaRequests/isDelivered(status:)`` takes 200 alone for a
    /// proof: the format documents say both. In a log another 2xx may come from somebody in between, and to send such a ping
    /// once more does no harm, for the server knows its id; to take it for delivered would lose it.
    func outcome(of answer: Answer) -> Outcome {
        (200..<300).contains(answer.status) ? .delivered(status: answer.status) : .refused(answer)
    }
}
