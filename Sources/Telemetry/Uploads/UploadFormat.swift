import Bytes
import JSONText

/// The format of the uploads of a system and of their answers.
public struct UploadFormat: Sendable {
    /// The base URL of the server, without a path.
    public let endpoint: String
    /// The base URLs of the servers that replace ``endpoint`` for certain types of uploads, by type.
    public let endpointsOfTypes: [CapturedText: String]
    /// The HTTP method that the apps use.
    public let method: String
    /// Returns whether the system accepts `path`, including its query.
    public let isTargetPath: @Sendable (_ path: String) -> Bool
    /// Returns whether the target of a record can have the given header field.
    ///
    /// The property is `nil` if targets cannot have header fields.
    public let isTargetHeader: (@Sendable (HeaderField) -> Bool)?
    /// Returns whether a path contains the given id and type.
    ///
    /// The property is `nil` if paths do not identify records. The check is needed because a record with the path of
    /// another document would replace that document on the server.
    public let isPathOfRecord: (@Sendable (_ path: String, _ id: String, _ type: String) -> Bool)?
    /// The format of uploads that are lists of events, or `nil` if uploads are not lists.
    public let list: ListFormat?
    /// The credentials that uploads need, or `nil` if the server accepts uploads from anyone.
    public let credentials: CredentialFormat?
    /// The order in which the records of a client are uploaded, by type.
    public let precedence: Precedence
    /// The rules by which uploads withdraw records, or `nil` if there are none besides ``precedence``.
    public let withdrawals: WithdrawalFormat?
    /// The codes of holds that only this system uses.
    public let holds: [HoldCode]
    /// The conversion of the payload to the body of a request.
    public let body: UploadBody
    /// The rule that derives the outcome of an upload from the answer.
    public let answers: AnswerFormat
    /// Returns the instructions in the body of an answer.
    ///
    /// The property is `nil` if answers contain no instructions.
    public let instructions: (@Sendable (Answer) -> AnswerInstructions)?

    /// Creates a format from its parts.
    public init(
        endpoint: String, endpointsOfTypes: [CapturedText: String], method: String,
        isTargetPath: @escaping @Sendable (_ path: String) -> Bool,
        isTargetHeader: (@Sendable (HeaderField) -> Bool)?,
        isPathOfRecord: (@Sendable (_ path: String, _ id: String, _ type: String) -> Bool)?, list: ListFormat?,
        credentials: CredentialFormat?, precedence: Precedence, withdrawals: WithdrawalFormat?, holds: [HoldCode],
        body: UploadBody, answers: AnswerFormat,
        instructions: (@Sendable (Answer) -> AnswerInstructions)?
    ) {
        self.endpoint = endpoint
        self.endpointsOfTypes = endpointsOfTypes
        self.method = method
        self.isTargetPath = isTargetPath
        self.isTargetHeader = isTargetHeader
        self.isPathOfRecord = isPathOfRecord
        self.list = list
        self.credentials = credentials
        self.precedence = precedence
        self.withdrawals = withdrawals
        self.holds = holds
        self.body = body
        self.answers = answers
        self.instructions = instructions
    }
}

extension UploadFormat {
    /// Returns whether the system accepts the path, the method and the header fields of a target.
    public func accepts(_ target: Target) -> Bool {
        (target.method == nil || target.method == method) && isTargetPath(target.path)
            && target.headerFields.allSatisfy { isTargetHeader?($0) ?? false }
    }

    /// Returns whether the target of a record contains its id and type.
    ///
    /// Returns `true` if the record has no target or if paths do not identify records.
    public func targetNamesRecord(_ record: borrowing Record) -> Bool {
        guard let isPathOfRecord, let target = record.target else { return true }
        return isPathOfRecord(target.path, record.id, record.type)
    }

    /// Returns the account whose credential a record needs, or `nil` if the record needs none or identifies no account.
    public func account(of record: borrowing Record, using document: inout JSONDocument) -> Account? {
        credentials?.account(record, &document)
    }

    /// Creates the system-specific header fields and the body of a request.
    ///
    /// - Throws: ``RequestError`` if the payload or the credential does not have the form that the system requires.
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

    /// Returns the instructions in the body of `answer`, or empty instructions if the system defines none.
    public func instructions(in answer: Answer) -> AnswerInstructions { instructions?(answer) ?? AnswerInstructions() }

    /// Returns the outcome that the system defines for `answer`.
    ///
    /// The caller handles the statuses that have the same meaning for all systems.
    public func outcome(of answer: Answer) -> Outcome {
        switch answers {
        case .status(let delivered):
            return delivered.contains(answer.status) ? .delivered(status: answer.status) : .refused(answer)
        case .custom(let outcome): return outcome(answer)
        }
    }
}

/// The conversion of a payload to the body of a request.
public enum UploadBody: Sendable {
    /// The body is the payload, sent with the given content type.
    case json(type: String = "application/json", isCompressed: Bool)
    /// The body and the header fields are created by a function.
    case custom(
        @Sendable (_ payload: [UInt8], _ credential: Credential, _ now: Timestamp) throws(RequestError)
            -> RequestContent)
}

/// The rule that derives the outcome of an upload from the answer.
public enum AnswerFormat: Sendable {
    /// The upload is delivered if the status is in the range, and refused otherwise.
    case status(delivered: ClosedRange<Int>)
    /// The outcome is determined by a function.
    case custom(@Sendable (Answer) -> Outcome)
}

/// The system-specific header fields and the body of a request.
public struct RequestContent: Sendable {
    /// The header fields that are sent in addition to the header fields of all requests.
    public var headers: [HeaderField]
    /// The body before any content encoding.
    public var body: [UInt8]
    /// Whether the body is sent with gzip compression.
    public var isCompressed: Bool

    /// Creates the content of a request.
    public init(headers: [HeaderField], body: [UInt8], isCompressed: Bool) {
        self.headers = headers
        self.body = body
        self.isCompressed = isCompressed
    }
}

/// A header field of a request.
public struct HeaderField: Sendable, Equatable {
    /// The name of the header field.
    public let name: String
    /// The value of the header field.
    public let value: String

    /// Creates a header field.
    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }

    /// Returns whether the field has the name `name`, regardless of the case of ASCII letters.
    public func isNamed(_ name: String) -> Bool { self.name.utf8.span.equalsIgnoringCase(name) }
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
