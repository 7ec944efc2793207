import JSONText
import Telemetry

/// The format of uploads to Leanplum.
///
/// Each upload is a `multi` call of one application.
///
/// Source: "Leanplum (Mozilla MMA): stored requests and the `multi` upload", sections C.2 to C.5.
enum LeanplumUploads {
    static let format = UploadFormat(
        endpoint: "https://\(LeanplumServer.host)", endpointsOfTypes: [:], method: LeanplumServer.method,
        isTargetPath: { $0 == LeanplumServer.path }, isTargetHeader: nil, isPathOfRecord: nil,
        list: ListFormat(
            key: LeanplumKeys.data, maximumItems: LeanplumRequests.maximumRequestsPerCall,
            idKey: LeanplumKeys.requestID, changingKey: LeanplumKeys.retryCount),
        credentials: .leanplum, precedence: .none, withdrawals: nil, holds: [],
        body: .custom(content(of:credential:now:)),
        answers: .custom(outcome(of:)), instructions: nil)

    /// Returns the application of a record.
    ///
    /// The name of the application is empty if the store does not contain it.
    static func account(of record: borrowing Record, using document: inout JSONDocument) -> Account? {
        let isDevelopment = Self.isDevelopment(record.payload, using: &document)
        return Account(
            system: .leanplum, name: applicationID(of: record) ?? "", variant: isDevelopment ? Account.development : "")
    }

    /// Returns Leanplum's id of the application, or `nil` if the store does not contain it.
    private static func applicationID(of record: borrowing Record) -> String? {
        let id = record.app?.id
        // Records of databases have the bundle id of the app if Leanplum's id is unknown.
        if record.source.store == .leanplumSQLite, id?.hasPrefix(LeanplumCredential.appIDPrefix) != true { return nil }
        return id
    }

    /// Returns whether the requests are from an app in development.
    ///
    /// Only the first request is checked, because all requests in a record have the same mode.
    private static func isDevelopment(_ payload: [UInt8], using document: inout JSONDocument) -> Bool {
        guard (try? document.read(payload)) != nil,
            let list = document.value(of: LeanplumKeys.data, in: document.root),
            let first = document.firstElement(of: list),
            let mode = document.value(of: LeanplumKeys.devMode, in: first)
        else { return false }
        return document.kind(of: mode) == .true
    }

    private static func content(
        of payload: [UInt8], credential: Credential, now: Timestamp
    ) throws(RequestError) -> RequestContent {
        guard let appID = credential[LeanplumCredential.appID], let key = credential[LeanplumCredential.key] else {
            throw .otherCredential
        }
        return RequestContent(
            headers: [HeaderField("Content-Type", "application/x-www-form-urlencoded")],
            body: try LeanplumForm.body(payload: payload, appID: appID, key: key, now: now), isCompressed: false)
    }

    private static func outcome(of answer: Answer) -> Outcome {
        answer.isWhole ? LeanplumAnswer(answer).outcome() : .unknown(reason: "the server's answer was cut short")
    }
}
