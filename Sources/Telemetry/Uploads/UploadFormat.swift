import Bytes
import JSONText

/// The format of the uploads of a system and of their answers.
///
/// By default, an upload is the payload as uncompressed JSON, status 200 confirms it, and the server accepts it from
/// anyone.
public protocol UploadFormat: Sendable {
    /// The base URL of the server, without a path.
    var endpoint: String { get }
    /// The base URLs of the servers that replace ``endpoint`` for certain types of uploads, by type.
    var endpointsOfTypes: [CapturedText: String] { get }
    /// The HTTP method that the apps use, which is `POST` by default.
    var method: String { get }
    /// The format of uploads that are lists of events, or `nil` if uploads are not lists.
    var list: ListFormat? { get }
    /// The credentials that uploads need, or `nil` if the server accepts uploads from anyone.
    var credentials: (any CredentialFormat)? { get }
    /// The order in which the records of a client are uploaded, by type.
    var precedence: Precedence { get }
    /// The codes of holds that only this system uses.
    var holds: [HoldCode] { get }
    /// The HTTP statuses that confirm an upload.
    var deliveredStatuses: ClosedRange<Int> { get }
    /// Whether the bodies of answers can contain data about the client, so that reasons for errors do not quote them.
    var answersContainClientData: Bool { get }

    /// Returns whether the system accepts `path`, including its query.
    func isTargetPath(_ path: String) -> Bool
    /// Returns whether the target of a record can have the given header field.
    func isTargetHeader(_ field: HeaderField) -> Bool
    /// Returns whether a path contains the given id and type, or `true` if paths do not identify records.
    ///
    /// The check is needed because a record with the path of another document would replace that document on the
    /// server.
    func isPath(_ path: String, ofID id: String, type: String) -> Bool
    /// Returns the path of `target`, which ``isTargetPath(_:)`` accepts, with its ids replaced by pseudonyms.
    ///
    /// By default, the path is returned unchanged, because it contains no ids. The result is `nil` if the path cannot
    /// be kept.
    func path(of target: Target, replacingIDs pseudonym: (_ value: String, PseudonymClass) -> String) -> String?
    /// Returns the account whose credential a record needs, or `nil` if the record needs none or identifies no account.
    func account(of record: borrowing Record, using document: inout JSONDocument) -> Account?
    /// Returns the subjects whose records `record` withdraws, such as the client of an older SDK.
    ///
    /// The deletion requests in ``precedence`` always withdraw the records of their client in their own system, too.
    func subjects(withdrawnBy record: borrowing Record, using document: inout JSONDocument) -> [Withdrawal.Subject]
    /// Returns the id of the profile that `record` belongs to, or `nil` if it belongs to none.
    func profile(of record: borrowing Record, using document: inout JSONDocument) -> String?
    /// Creates the system-specific header fields and the body of a request.
    ///
    /// - Throws: ``RequestError`` if the payload or the credential does not have the form that the system requires.
    func content(of payload: [UInt8], credential: Credential, now: Timestamp) throws(RequestError) -> RequestContent
    /// Returns the outcome that the system defines for `answer`.
    ///
    /// The caller handles the statuses that have the same meaning for all systems.
    func outcome(of answer: Answer) -> Outcome
    /// Returns the instructions in the body of `answer`, or empty instructions if there are none.
    func instructions(in answer: Answer) -> AnswerInstructions
}

extension UploadFormat {
    /// All uploads are sent to one server.
    public var endpointsOfTypes: [CapturedText: String] { [:] }
    /// The method `POST`.
    public var method: String { "POST" }
    /// Uploads are not lists.
    public var list: ListFormat? { nil }
    /// Uploads need no credentials.
    public var credentials: (any CredentialFormat)? { nil }
    /// Records are sent by time.
    public var precedence: Precedence { .none }
    /// The system uses only the codes that all systems share.
    public var holds: [HoldCode] { [] }
    /// Only status 200 confirms an upload.
    public var deliveredStatuses: ClosedRange<Int> { 200...200 }
    /// The bodies of answers contain no data about the client.
    public var answersContainClientData: Bool { false }
    /// Returns `false`, because targets cannot have header fields.
    public func isTargetHeader(_ field: HeaderField) -> Bool { false }
    /// Returns `true`, because paths do not identify records.
    public func isPath(_ path: String, ofID id: String, type: String) -> Bool { true }
    /// Returns the path unchanged, because it contains no ids.
    public func path(
        of target: Target, replacingIDs pseudonym: (_ value: String, PseudonymClass) -> String
    ) -> String? { target.path }
    /// Returns `nil`, because the server accepts uploads from anyone.
    public func account(of record: borrowing Record, using document: inout JSONDocument) -> Account? { nil }
    /// Returns an empty array, because requests for deletion concern only their own client.
    public func subjects(
        withdrawnBy record: borrowing Record, using document: inout JSONDocument
    ) -> [Withdrawal.Subject] { [] }
    /// Returns `nil`, because records belong to no profile.
    public func profile(of record: borrowing Record, using document: inout JSONDocument) -> String? { nil }
    /// Returns the payload as uncompressed JSON.
    public func content(
        of payload: [UInt8], credential: Credential, now: Timestamp
    ) throws(RequestError) -> RequestContent { RequestContent(type: "application/json", body: payload) }
    /// Returns the outcome that follows from ``deliveredStatuses``: an upload is delivered or refused.
    public func outcome(of answer: Answer) -> Outcome {
        deliveredStatuses.contains(answer.status) ? .delivered(status: answer.status) : .refused(answer)
    }
    /// Returns empty instructions, because answers contain none.
    public func instructions(in answer: Answer) -> AnswerInstructions { AnswerInstructions() }
}

extension UploadFormat {
    /// Returns whether the system accepts the path, the method and the header fields of a target.
    public func accepts(_ target: Target) -> Bool {
        (target.method == nil || target.method == method) && isTargetPath(target.path)
            && target.headerFields.allSatisfy(isTargetHeader)
    }

    /// Returns whether the target of a record contains its id and type.
    ///
    /// Returns `true` if the record has no target or if paths do not identify records.
    public func targetNamesRecord(_ record: borrowing Record) -> Bool {
        guard let target = record.target else { return true }
        return isPath(target.path, ofID: record.id, type: record.type)
    }

    /// Returns the withdrawals that `record` causes as a request for the deletion of data.
    public func withdrawals(by record: borrowing Record, using document: inout JSONDocument) -> [Withdrawal] {
        var subjects = subjects(withdrawnBy: record, using: &document)
        if precedence.deletionRequests.contains(record.type), let client = record.client {
            subjects.append(Withdrawal.Subject(record.system, .client, id: client))
        }
        let source = record.source
        return subjects.map {
            Withdrawal(.deletionRequested, of: $0, capture: source.capture, path: source.path)
        }
    }
}

/// The system-specific header fields and the body of a request.
public struct RequestContent: Sendable {
    /// The header fields that are sent in addition to the header fields of all requests.
    public let headers: [HeaderField]
    /// The body before any content encoding.
    public let body: [UInt8]
    /// Whether the body is sent with gzip compression.
    public let isCompressed: Bool

    /// Creates the content of a request with a body of the given content type.
    public init(_ headers: [HeaderField] = [], type: String, body: [UInt8], isCompressed: Bool = false) {
        self.headers = headers + [HeaderField("Content-Type", type)]
        self.body = body
        self.isCompressed = isCompressed
    }
}

/// The format of uploads that are lists of events, such as `{"data":[event, …]}`.
public struct ListFormat: Sendable {
    /// The key of the list, which is the only member of the payload.
    public let key: JSONKey
    /// The maximum number of events in an upload.
    public let maximumItems: Int
    /// The key of an event's globally unique id, or `nil` if events have no id.
    public let idKey: JSONKey?
    /// The key of the member that changes while an event is queued, or `nil` if there is none.
    ///
    /// Comparisons of events ignore this member.
    public let changingKey: JSONKey?

    /// Creates a list format.
    public init(key: JSONKey, maximumItems: Int, idKey: JSONKey?, changingKey: JSONKey?) {
        self.key = key
        self.maximumItems = maximumItems
        self.idKey = idKey
        self.changingKey = changingKey
    }
}

/// The reason why a request cannot be created from a record.
public enum RequestError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The record has no target, or its system does not accept the target.
    case noTarget
    /// The account has no credential. The associated value describes the missing setting.
    case noCredential(String)
    /// The credential belongs to another system.
    case otherCredential
    /// The payload does not have the form that the system requires.
    case payload
    /// The body could not be compressed. The associated value describes the compression error.
    case notCompressed(String)

    /// A description of the error in one line.
    public var description: String {
        switch self {
        case .noTarget: "the record has no target in the grammar of its system"
        case .noCredential(let name): "a credential is missing: set \(name)"
        case .otherCredential: "the credential belongs to another system"
        case .payload: "the payload does not have the form that the system requires"
        case .notCompressed(let reason): reason
        }
    }
}

/// The documented limits on uploads, which are the defaults of jobs.
///
/// Source: "Delivery", "Limits".
public enum DocumentedLimits {
    /// The maximum number of uploads of a client in a day.
    public static let dailyUploads = 100
    /// The maximum number of uploads of one type that a job makes for a client.
    public static let uploadsOfTypeInJob = 40
}
