import JSONText

/// Describes how captured requests of a system are recognized and read, in an HTTP archive or on a line of an NDJSON file.
///
/// A step that a system does not need is `nil`.
public struct RequestFormat: Sendable {
    /// The hosts of the system's servers. They are compared as wholes, because a log is hostile input.
    public let hosts: [CapturedHost]
    /// The methods that a capture may show.
    public let methods: [String]
    /// The position of the payload in the body.
    public let body: CapturedBody
    /// The names, in lower case, of the header fields that records are made with. No other field is read, because it may be a
    /// credential.
    public let headers: Set<String>
    /// Whether the payloads have neither id nor time, so that equal ones are repeated and are numbered.
    public let payloadsRepeat: Bool
    /// Returns whether a path on one of the hosts is that of an upload. `parts` are the decoded parts of the path that are not
    /// empty.
    public let isUpload: @Sendable (_ parts: [[UInt8]]) -> Bool
    /// Returns the kind of a request to one of the hosts that is no upload, or `nil` if the kind is unknown.
    public let otherTraffic: (@Sendable (_ parts: [[UInt8]], _ method: String) -> OtherTraffic?)?
    /// Returns the path of an upload as the grammar of the system writes it. If this is `nil`, a path has one form only.
    public let path: (@Sendable (WebAddress) -> String)?
    /// The statuses of answers that prove that a captured request was delivered.
    public let deliveredStatuses: ClosedRange<Int>
    /// Returns what a line of an NDJSON file is to the system, or `nil` if it is nothing.
    public let lineShape: (@Sendable (_ line: JSONDocument) -> LineShape?)?
    /// Makes a record of a payload. Brings the values of the document, which holds the payload, into the documented form.
    public let record: @Sendable (CapturedUpload, _ document: inout JSONDocument) throws(BodyError) -> Record

    /// Creates a format from its parts.
    public init(
        hosts: [CapturedHost], methods: [String], body: CapturedBody, headers: Set<String>, payloadsRepeat: Bool,
        isUpload: @escaping @Sendable (_ parts: [[UInt8]]) -> Bool,
        otherTraffic: (@Sendable (_ parts: [[UInt8]], _ method: String) -> OtherTraffic?)?,
        path: (@Sendable (WebAddress) -> String)?, deliveredStatuses: ClosedRange<Int>,
        lineShape: (@Sendable (_ line: JSONDocument) -> LineShape?)?,
        record: @escaping @Sendable (CapturedUpload, _ document: inout JSONDocument) throws(BodyError) -> Record
    ) {
        self.hosts = hosts
        self.methods = methods
        self.body = body
        self.headers = headers
        self.payloadsRepeat = payloadsRepeat
        self.isUpload = isUpload
        self.otherTraffic = otherTraffic
        self.path = path
        self.deliveredStatuses = deliveredStatuses
        self.lineShape = lineShape
        self.record = record
    }

    /// Returns whether the status of an answer proves that a captured request was delivered.
    public func isDelivered(status: Int) -> Bool { deliveredStatuses.contains(status) }
}

/// A host that takes uploads of a system.
public struct CapturedHost: Sendable {
    /// Its name in lower case.
    public let name: String
    /// The note on a request to it; nil if it is the usual host.
    public let note: String?

    /// Names a host.
    public init(_ name: String, note: String? = nil) {
        self.name = name
        self.note = note
    }
}

/// How a payload lies in the body of a request.
public enum CapturedBody: Sendable {
    /// The body is the payload.
    case json
    /// The payload is a field of a form.
    case form(FormBody)
}

/// A form with a payload in it.
public struct FormBody: Sendable {
    /// The field that tells whether there is a payload.
    public let selector: String
    /// The value of that field where there is one.
    public let selected: String
    /// The field that is the payload.
    public let payload: String
    /// The kind of traffic that a form without a payload is.
    public let otherwise: OtherTraffic

    /// Describes a form.
    public init(selector: String, selected: String, payload: String, otherwise: OtherTraffic) {
        self.selector = selector
        self.selected = selected
        self.payload = payload
        self.otherwise = otherwise
    }
}

/// What a line of an NDJSON file is to a system, judged by its keys.
public enum LineShape: Sendable {
    /// Makes a record of a line that is a complete file of a store, such as a ping in its envelope.
    public typealias Reader = @Sendable (_ line: [UInt8], _ source: Source) throws(BodyError) -> Record

    /// A complete file of a store, with an envelope around the payload.
    case stored(Reader)
    /// A payload. A file of a store may consist of the payload alone.
    case payload(isStoredToo: Bool)
}

/// Traffic in a request log that is not converted.
public struct OtherTraffic: Sendable, Hashable, Comparable {
    /// The code of the problem that tells of it.
    public let code: String
    /// The kind in words, which follow a number of requests.
    public let words: String

    /// Declares a kind of traffic.
    public init(_ code: String, _ words: String) {
        self.code = code
        self.words = words
    }

    /// The order in which reports tell: what is nobody's first, then by code.
    public static func < (left: OtherTraffic, right: OtherTraffic) -> Bool {
        (left == unrelated ? 0 : 1, left.code) < (right == unrelated ? 0 : 1, right.code)
    }

    /// Requests that concern no known system, or that did not go over the network.
    public static let unrelated = OtherTraffic("other-traffic", "not of a documented system")
}
