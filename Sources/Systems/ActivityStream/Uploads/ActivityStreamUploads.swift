import JSONText
import Telemetry

/// Uploads to Ping Centre: every ping is posted to one path, and anybody may.
///
/// Source: "Activity Stream New Tab pings of Firefox for iOS (Ping Centre)", sections 3 and 10.
struct ActivityStreamUploads: UploadFormat {
    /// Where all pings go.
    static let path = "/v3/links/ping-centre"
    /// The host that released apps send to.
    static let host = "tiles.services.mozilla.com"

    let endpoint = "https://\(host)"
    let method = "POST"
    let list: ListFormat? = nil
    let credentials: CredentialFormat? = nil
    let precedence = Precedence.none
    let holds: [HoldCode] = []

    /// Whether a status says that the server took the ping.
    static func isDelivered(status: Int) -> Bool { (200..<300).contains(status) }

    func isTarget(_ target: Target) -> Bool {
        target.path == Self.path && (target.method == nil || target.method == method)
    }

    /// Its requests carry nothing of a record in their headers.
    func isTargetHeader(_ field: HeaderField) -> Bool { false }

    /// The path names no document.
    func isTargetItsOwn(_ record: borrowing Record) -> Bool { true }

    func account(of record: borrowing Record, using document: inout JSONDocument) -> Account? { nil }

    func content(of payload: [UInt8], to target: Target, credential: Credential, now: Timestamp) throws(RequestError)
        -> RequestContent
    {
        RequestContent(headers: [HeaderField("Content-Type", "application/json")], body: payload, isCompressed: false)
    }

    func outcome(of answer: Answer) -> Outcome {
        Self.isDelivered(status: answer.status) ? .delivered(status: answer.status) : .refused(answer)
    }
}
