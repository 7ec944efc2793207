import JSONText
import Telemetry

/// Uploads of list requests: each goes to the path of its account, with the account's beacon key.
///
/// Source: "Sift iOS SDK: on-disk store, list request", section 8.
struct SiftUploads: UploadFormat {
    /// The host that the SDK sends to.
    static let host = "api3.siftscience.com"

    let endpoint = "https://\(host)"
    let method = "PUT"
    let list: ListFormat? = ListFormat(
        key: SiftRequestKeys.data, mostItems: .max, idKey: nil, changingKey: nil)
    let credentials: CredentialFormat? = .sift
    let precedence = Precedence.none
    let holds: [HoldCode] = []

    /// Whether a status says that the server took the request: 200 alone, as the SDK has it.
    static func isDelivered(status: Int) -> Bool { status == 200 }

    func isTarget(_ target: Target) -> Bool { account(of: target) != nil }

    /// Its requests carry nothing of a record in their headers.
    func isTargetHeader(_ field: HeaderField) -> Bool { false }

    /// The path names no document.
    func isTargetItsOwn(_ record: borrowing Record) -> Bool { true }

    /// The account is the one that the path names, so that no record can borrow another account's credential.
    func account(of record: borrowing Record, using document: inout JSONDocument) -> Account? {
        record.target.flatMap(account).map { Account(system: .sift, name: $0) }
    }

    private func account(of target: Target) -> String? {
        target.method == nil || target.method == method ? SiftTarget.account(ofPath: target.path) : nil
    }

    func content(of payload: [UInt8], to target: Target, credential: Credential, now: Timestamp) throws(RequestError)
        -> RequestContent
    {
        guard let token = credential[SiftCredential.token] else { throw .otherCredential }
        return RequestContent(
            headers: [HeaderField("Authorization", "Basic \(token)"), HeaderField("Content-Type", "application/json")],
            body: payload, isCompressed: true)
    }

    func outcome(of answer: Answer) -> Outcome {
        Self.isDelivered(status: answer.status) ? .delivered(status: answer.status) : .refused(answer)
    }
}
