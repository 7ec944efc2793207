import JSONText

/// Describes how uploads of a system are made, and what the answers mean. This is the pure part of sending.
///
/// A capability that a system lacks is `nil` or empty.
public struct UploadFormat: Sendable {
    /// The address that the documented apps send to, without a path.
    public let endpoint: String
    /// The method that the apps send with.
    public let method: String
    /// Returns whether a path with its query is in the grammar of the system.
    public let isTargetPath: @Sendable (_ path: String) -> Bool
    /// Returns whether a target may carry a header field, with the name and the value that records have.
    public let isTargetHeader: (@Sendable (HeaderField) -> Bool)?
    /// Returns whether a path names the record with the given id and type, or `nil` if paths name no records.
    ///
    /// Servers that identify documents by the path alone would store such a record in place of another one.
    public let isPathOfRecord: (@Sendable (_ path: String, _ id: String, _ type: String) -> Bool)?
    /// How the events of a list request are identified, or `nil` if uploads are no lists.
    public let list: ListFormat?
    /// The credentials that uploads need, or `nil` if the server accepts uploads from anyone.
    public let credentials: CredentialFormat?
    /// The records that go before the others of their client, and those that end what the client has left.
    public let precedence: Precedence
    /// The codes of the system's own holds. A record with a final hold cannot be released.
    public let holds: [HoldCode]
    /// How the payload becomes the body of a request.
    public let body: UploadBody
    /// How the outcome is read from an answer.
    public let answers: AnswerFormat

    /// Creates a format from its parts.
    public init(
        endpoint: String, method: String, isTargetPath: @escaping @Sendable (_ path: String) -> Bool,
        isTargetHeader: (@Sendable (HeaderField) -> Bool)?,
        isPathOfRecord: (@Sendable (_ path: String, _ id: String, _ type: String) -> Bool)?, list: ListFormat?,
        credentials: CredentialFormat?, precedence: Precedence, holds: [HoldCode], body: UploadBody,
        answers: AnswerFormat
    ) {
        self.endpoint = endpoint
        self.method = method
        self.isTargetPath = isTargetPath
        self.isTargetHeader = isTargetHeader
        self.isPathOfRecord = isPathOfRecord
        self.list = list
        self.credentials = credentials
        self.precedence = precedence
        self.holds = holds
        self.body = body
        self.answers = answers
    }
}

extension UploadFormat {
    /// Returns whether records of the system may have a target: its path, its method and each of its header fields are in
    /// the grammar.
    public func accepts(_ target: Target) -> Bool {
        (target.method == nil || target.method == method) && isTargetPath(target.path)
            && target.headerFields.allSatisfy { isTargetHeader?($0) ?? false }
    }

    /// Returns whether the target of a record names the record's own id and type, as far as paths of the system name them.
    public func isTargetItsOwn(_ record: borrowing Record) -> Bool {
        guard let isPathOfRecord, let target = record.target else { return true }
        return isPathOfRecord(target.path, record.id, record.type)
    }

    /// Returns the account whose credential a record needs, or `nil` if the record needs or names none.
    ///
    /// `document` is reused as memory.
    public func account(of record: borrowing Record, using document: inout JSONDocument) -> Account? {
        credentials?.account(record, &document)
    }

    /// Creates the header fields and the body of a request.
    /// - Parameters:
    ///   - payload: The canonical bytes.
    ///   - credential: The credential of the account, or an empty one for systems without accounts.
    ///   - now: The instant of sending.
    public func content(
        of payload: [UInt8], credential: Credential, now: Timestamp
    ) throws(RequestError) -> RequestContent {
        switch body {
        case .json(let type, let isCompressed):
            return RequestContent(
                headers: [HeaderField("Content-Type", type)], body: payload, isCompressed: isCompressed)
        case .custom(let content): return try content(payload, credential, now)
        }
    }

    /// Returns the meaning of an answer whose status does not mean the same for all systems, as 401, 429 and 5xx do.
    public func outcome(of answer: Answer) -> Outcome {
        switch answers {
        case .status(let delivered):
            return delivered.contains(answer.status) ? .delivered(status: answer.status) : .refused(answer)
        case .custom(let outcome): return outcome(answer)
        }
    }
}

/// How a payload becomes the body of a request.
public enum UploadBody: Sendable {
    /// The body is the payload, sent with a content type.
    case json(type: String = "application/json", isCompressed: Bool)
    /// The body or the header fields depend on the credential or on the time.
    case custom(
        @Sendable (_ payload: [UInt8], _ credential: Credential, _ now: Timestamp) throws(RequestError)
            -> RequestContent)
}

/// How the outcome of an upload is read from an answer.
public enum AnswerFormat: Sendable {
    /// The upload is delivered if the status is in the range. Any other status is a refusal.
    case status(delivered: ClosedRange<Int>)
    /// The outcome depends on more than the status.
    case custom(@Sendable (Answer) -> Outcome)
}

/// The part of a request that a system decides: header fields and body.
public struct RequestContent: Sendable {
    /// The header fields besides those that all requests have.
    public var headers: [HeaderField]
    /// The body before any content encoding.
    public var body: [UInt8]
    /// Whether the body is compressed with gzip on its way.
    public var isCompressed: Bool

    /// Collects the header fields and the body.
    public init(headers: [HeaderField], body: [UInt8], isCompressed: Bool) {
        self.headers = headers
        self.body = body
        self.isCompressed = isCompressed
    }
}

/// A field in the header of a request.
public struct HeaderField: Sendable, Equatable {
    /// The field's name.
    public let name: String
    /// Its value.
    public let value: String

    /// Names a field and its value.
    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// How the events of a list request are told apart by uploads: `{"data":[event, …]}` without an id on the server.
public struct ListFormat: Sendable {
    /// The key of the list in the payload, its only member.
    public let key: JSONKey
    /// The most events that one request may have.
    public let mostItems: Int
    /// The key of an event whose text tells the event wherever it turns up again; nil if there is none.
    public let idKey: JSONKey?
    /// The key of an event that changes while the event waits, and so does not tell it; nil if there is none.
    public let changingKey: JSONKey?

    /// Describes the lists of a system.
    public init(key: JSONKey, mostItems: Int, idKey: JSONKey?, changingKey: JSONKey?) {
        self.key = key
        self.mostItems = mostItems
        self.idKey = idKey
        self.changingKey = changingKey
    }
}
