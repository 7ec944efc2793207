import JSONText
import Telemetry

/// The format of uploads, which send each list request to the path of its account.
///
/// Source: "Sift iOS SDK: on-disk store, list request", section 8.
enum SiftUploads {
    /// The host that the SDK sends list requests to.
    static let host = "api3.siftscience.com"
    /// The only status that confirms an upload, which is 200 as in the SDK.
    static let deliveredStatuses = 200...200
    private static let method = "PUT"

    static let format = UploadFormat(
        endpoint: "https://\(host)", endpointsOfTypes: [:], method: method,
        isTargetPath: { SiftTarget.account(ofPath: $0) != nil },
        isTargetHeader: nil, isPathOfRecord: nil,
        list: ListFormat(key: SiftRequestKeys.data, maximumItems: .max, idKey: nil, changingKey: nil),
        credentials: .sift, precedence: .none, withdrawals: nil, holds: [], body: .custom(content(of:credential:now:)),
        answers: .status(delivered: deliveredStatuses), instructions: nil)

    /// Returns the account whose id the target path of `record` contains, or `nil` if there is none.
    ///
    /// The path determines the account, so that no record can use the credential of another account.
    static func account(of record: borrowing Record, using document: inout JSONDocument) -> Account? {
        guard let target = record.target, target.method == nil || target.method == method else { return nil }
        return SiftTarget.account(ofPath: target.path).map { Account(system: .sift, name: $0) }
    }

    private static func content(
        of payload: [UInt8], credential: Credential, now: Timestamp
    ) throws(RequestError) -> RequestContent {
        guard let token = credential[SiftCredential.token] else { throw .otherCredential }
        return RequestContent(
            headers: [HeaderField("Authorization", "Basic \(token)"), HeaderField("Content-Type", "application/json")],
            body: payload, isCompressed: true)
    }
}
