import Bytes
import JSONText

/// The format of a system's requests in HTTP archives and NDJSON files.
public struct RequestFormat: Sendable {
    /// The hosts of the system's servers.
    ///
    /// Only the complete host name matches, because a log can be forged.
    public let hosts: [CapturedHost]
    /// The HTTP methods that an upload can have.
    public let methods: [String]
    /// The location of the payload in the body.
    public let body: CapturedBody
    /// The lowercase names of the header fields that are read.
    ///
    /// Other header fields are ignored because they can contain credentials.
    public let headers: [String]
    /// The lowercase names of the header fields whose presence matters, but whose values are never read.
    public let secretHeaders: [String]
    /// Whether payloads of the system can have neither an id nor a time.
    ///
    /// If so, equal payloads without a time are numbered as distinct uploads.
    public let payloadsRepeat: Bool
    /// Returns whether a path on one of the hosts is the path of an upload.
    ///
    /// `parts` are the decoded, non-empty components of the path.
    public let isUpload: @Sendable (_ parts: [[UInt8]]) -> Bool
    /// Classifies a request to one of the hosts that is not an upload.
    ///
    /// Returns `nil` if the kind of the request is unknown. The property is `nil` if no kinds of such requests are
    /// known.
    public let otherTraffic: (@Sendable (_ parts: [[UInt8]], _ method: String) -> OtherTraffic?)?
    /// Returns the normalized path of an upload.
    ///
    /// The property is `nil` if each path has only one form.
    public let path: (@Sendable (WebAddress) -> String)?
    /// The HTTP statuses that prove that an upload was delivered.
    public let deliveredStatuses: ClosedRange<Int>
    /// Returns the format of a line of an NDJSON file, or `nil` if the line does not belong to the system.
    ///
    /// The property is `nil` if lines of the system cannot be recognized.
    public let lineShape: (@Sendable (_ line: JSONDocument) -> LineShape?)?
    /// Creates a record from the payload in `document`, and converts the payload to the documented form.
    public let record: @Sendable (CapturedUpload, _ document: inout JSONDocument) throws(BodyError) -> Record

    /// Creates a format from its parts.
    public init(
        hosts: [CapturedHost], methods: [String], body: CapturedBody, headers: [String],
        secretHeaders: [String], payloadsRepeat: Bool, isUpload: @escaping @Sendable (_ parts: [[UInt8]]) -> Bool,
        otherTraffic: (@Sendable (_ parts: [[UInt8]], _ method: String) -> OtherTraffic?)?,
        path: (@Sendable (WebAddress) -> String)?, deliveredStatuses: ClosedRange<Int>,
        lineShape: (@Sendable (_ line: JSONDocument) -> LineShape?)?,
        record: @escaping @Sendable (CapturedUpload, _ document: inout JSONDocument) throws(BodyError) -> Record
    ) {
        self.hosts = hosts
        self.methods = methods
        self.body = body
        self.headers = headers
        self.secretHeaders = secretHeaders
        self.payloadsRepeat = payloadsRepeat
        self.isUpload = isUpload
        self.otherTraffic = otherTraffic
        self.path = path
        self.deliveredStatuses = deliveredStatuses
        self.lineShape = lineShape
        self.record = record
    }

    /// Returns whether the status of an answer proves that an upload was delivered.
    public func isDelivered(status: Int) -> Bool { deliveredStatuses.contains(status) }
}

/// A host that accepts uploads of a system.
public struct CapturedHost: Sendable {
    /// The name of the host in lowercase.
    public let name: String
    /// The note for records of requests to this host, or `nil` for the usual host.
    public let note: String?

    /// Creates a host.
    public init(_ name: String, note: String? = nil) {
        self.name = name
        self.note = note
    }
}

/// The location of a payload in the body of a request.
public enum CapturedBody: Sendable {
    /// The body is the payload.
    case json
    /// The payload is a field of a form.
    case form(FormBody)
    /// The payload consists of all fields of a form.
    case fields(FormFields)
}

/// A form that contains a payload in one of its fields.
public struct FormBody: Sendable {
    /// The name of the field that indicates whether the form contains a payload.
    public let selector: String
    /// The value of the selector field in a form with a payload.
    public let selected: String
    /// The name of the field that contains the payload.
    public let payload: String
    /// The kind of traffic that a form without a payload is counted as.
    public let otherwise: OtherTraffic

    /// Creates the description of a form.
    public init(selector: String, selected: String, payload: String, otherwise: OtherTraffic) {
        self.selector = selector
        self.selected = selected
        self.payload = payload
        self.otherwise = otherwise
    }
}

/// The form in which a line of an NDJSON file contains a payload.
///
/// The keys of the line determine the form.
public enum LineShape: Sendable {
    /// Creates a record from a line with the contents of a store file, such as a ping in its envelope.
    public typealias Reader = @Sendable (_ line: [UInt8], _ source: Source) throws(BodyError) -> Record

    /// The contents of a store file: a payload in an envelope.
    case stored(Reader)
    /// A payload. `isStoredToo` specifies whether a store file can also consist of the payload alone.
    case payload(isStoredToo: Bool)
}

/// A kind of request in a request log that is not converted to a record.
public struct OtherTraffic: Sendable, Hashable, Comparable {
    /// The code of the problem under which the traffic is reported.
    public let code: String
    /// The description of the traffic.
    ///
    /// Reports show it after the number of requests.
    public let words: String

    /// Creates a kind of traffic.
    public init(_ code: String, _ words: String) {
        self.code = code
        self.words = words
    }

    /// Returns whether reports list `left` before `right`.
    ///
    /// Unrelated traffic is first, followed by the other kinds in the order of their codes.
    public static func < (left: OtherTraffic, right: OtherTraffic) -> Bool {
        (left == unrelated ? 0 : 1, left.code) < (right == unrelated ? 0 : 1, right.code)
    }

    /// Requests that do not belong to a known system, or that were not sent over the network.
    public static let unrelated = OtherTraffic("other-traffic", "not of a documented system")
}
