import JSONText

/// How an upload of a system is made, and what the answers mean: the pure side of sending.
public protocol UploadFormat: Sendable {
    /// The address that the documented apps send to, without a path.
    var endpoint: String { get }
    /// The method that the apps send with.
    var method: String { get }
    /// How the events of a list request are told apart; nil for systems whose uploads are no lists.
    var list: ListFormat? { get }
    /// Whose credentials uploads need, and where they are found; nil for a server that takes anybody's.
    var credentials: CredentialFormat? { get }

    /// Which records go before the others of their client, and which of them end what the client has left.
    var precedence: Precedence { get }
    /// The codes of the system's own holds. One that no operator may release is final: to send such a record would break a
    /// promise.
    var holds: [HoldCode] { get }

    /// Whether path and method of a target are in the grammar of the system.
    func isTarget(_ target: Target) -> Bool
    /// Whether a target may carry a header field, by its name as it is written in records and its value.
    func isTargetHeader(_ field: HeaderField) -> Bool
    /// Whether the target of a record names the record's own id and type, as far as the system's paths name them. Where
    /// servers tell documents apart by the path alone, a record must not take another one's place.
    func isTargetItsOwn(_ record: borrowing Record) -> Bool
    /// The account whose credential a record needs; nil if it needs none, or names none.
    /// - Parameter document: memory to read with.
    func account(of record: borrowing Record, using document: inout JSONDocument) -> Account?
    /// Makes the request.
    /// - Parameters:
    ///   - target: in the grammar of the system. Its header fields are sent too and need not be told again.
    ///   - payload: canonical bytes.
    ///   - credential: that of the account; empty for systems without accounts.
    ///   - now: the instant of sending.
    /// - Throws: ``RequestError``.
    func content(of payload: [UInt8], to target: Target, credential: Credential, now: Timestamp) throws(RequestError)
        -> RequestContent
    /// The meaning of an answer whose status does not mean the same for all systems (as 401, 429 and 5xx do).
    func outcome(of answer: Answer) -> Outcome
}

extension UploadFormat {
    /// Whether records of the system may have a target: path, method and each of its header fields are in the grammar.
    public func accepts(_ target: Target) -> Bool {
        isTarget(target) && target.headerFields.allSatisfy(isTargetHeader)
    }
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
