import JSONText
import Telemetry

/// How the requests of a record are sent: a `multi` call, in the name of an application.
///
/// Source: "Leanplum (Mozilla MMA): stored requests and the `multi` upload", sections C.2 to C.5.
struct LeanplumUploads: UploadFormat {
    var endpoint: String { "https://\(LeanplumServer.host)" }
    var method: String { LeanplumServer.method }

    var list: ListFormat? {
        ListFormat(
            key: LeanplumKeys.data, mostItems: LeanplumRequests.mostInOneCall, idKey: LeanplumKeys.requestID,
            changingKey: LeanplumKeys.retryCount)
    }

    var credentials: CredentialFormat? { .leanplum }
    var precedence: Precedence { .none }
    var holds: [HoldCode] { [] }

    func isTarget(_ target: Target) -> Bool {
        target.path == LeanplumServer.path && (target.method == nil || target.method == LeanplumServer.method)
    }

    /// Its requests carry nothing of a record in their headers.
    func isTargetHeader(_ field: HeaderField) -> Bool { false }

    /// All records go to one path, which names none of them.
    func isTargetItsOwn(_ record: borrowing Record) -> Bool { true }

    /// The application, without a name where the store does not tell it.
    func account(of record: borrowing Record, using document: inout JSONDocument) -> Account? {
        let isDevelopment = Self.isDevelopment(record.payload, using: &document)
        return Account(
            system: .leanplum, name: record.app?.id ?? "", variant: isDevelopment ? Account.development : "")
    }

    /// The first request of the list says for all, for lists are never mixed.
    private static func isDevelopment(_ payload: [UInt8], using document: inout JSONDocument) -> Bool {
        guard (try? document.read(payload)) != nil,
            let list = document.value(of: LeanplumKeys.data, in: document.root),
            let first = document.firstElement(of: list),
            let mode = document.value(of: LeanplumKeys.devMode, in: first)
        else { return false }
        return document.kind(of: mode) == .true
    }

    func content(
        of payload: [UInt8], to target: Target, credential: Credential, now: Timestamp
    ) throws(RequestError) -> RequestContent {
        guard let appID = credential[LeanplumCredential.appID], let key = credential[LeanplumCredential.key] else {
            throw .otherCredential
        }
        let form = try LeanplumForm(payload: payload, appID: appID, key: key, now: now)
        return RequestContent(
            headers: [HeaderField("Content-Type", "application/x-www-form-urlencoded")], body: form.body,
            isCompressed: false)
    }

    func outcome(of answer: Answer) -> Outcome {
        guard answer.isWhole else {
            return .unknown(reason: "the server's answer, which has to tell, was cut short")
        }
        return LeanplumAnswer(answer).outcome()
    }
}
