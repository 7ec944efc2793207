import Bytes
import JSONText

/// The format of a system's requests in HTTP archives and NDJSON files.
public protocol RequestFormat: Sendable {
    /// The hosts of the system's servers.
    ///
    /// Only the complete host name matches, because a log can be forged.
    var hosts: [CapturedHost] { get }
    /// The HTTP methods that an upload can have.
    var methods: [String] { get }
    /// The location of the payload in the body, which by default is the whole body.
    var body: CapturedBody { get }
    /// The lowercase names of the header fields that are read.
    ///
    /// Other header fields are ignored because they can contain credentials.
    var headers: [String] { get }
    /// The lowercase names of the header fields whose presence matters, but whose values are never read.
    var secretHeaders: [String] { get }
    /// Whether payloads of the system can have neither an id nor a time.
    ///
    /// If so, equal payloads without a time are numbered as distinct uploads.
    var payloadsRepeat: Bool { get }
    /// The HTTP statuses that prove that an upload was delivered, which by default is only 200.
    var deliveredStatuses: ClosedRange<Int> { get }

    /// Returns whether a path on one of the hosts is the path of an upload.
    ///
    /// `parts` are the decoded, non-empty components of the path.
    func isUpload(_ parts: [[UInt8]]) -> Bool
    /// Classifies a request to one of the hosts that is not an upload.
    ///
    /// Returns `nil` if the kind of the request is unknown.
    func otherTraffic(to parts: [[UInt8]], method: String) -> OtherTraffic?
    /// Returns whether the fields of a form, which a log lists separately, are already percent-decoded.
    func areDecoded(_ fields: [FormField]) -> Bool
    /// Returns the normalized path of an upload, which by default is the path of `address`.
    func path(of address: WebAddress) -> String
    /// Returns the format of a line of an NDJSON file, or `nil` if the line does not belong to the system.
    func lineShape(of line: JSONDocument) -> LineShape?
    /// Creates a record from the payload in `document`, and converts the payload to the documented form.
    func record(of upload: CapturedUpload, in document: inout JSONDocument) throws(BodyError) -> Record
}

extension RequestFormat {
    /// The whole body is the payload.
    public var body: CapturedBody { .json }
    /// No header fields are read.
    public var headers: [String] { [] }
    /// The presence of header fields has no meaning.
    public var secretHeaders: [String] { [] }
    /// Payloads have an id or a time.
    public var payloadsRepeat: Bool { false }
    /// Only status 200 proves a delivery.
    public var deliveredStatuses: ClosedRange<Int> { 200...200 }
    /// Returns `nil`, because no kinds of other requests are known.
    public func otherTraffic(to parts: [[UInt8]], method: String) -> OtherTraffic? { nil }
    /// Returns `false`, because most logs list the fields of a form as they were sent.
    public func areDecoded(_ fields: [FormField]) -> Bool { false }
    /// Returns the path unchanged, because each path has only one form.
    public func path(of address: WebAddress) -> String { address.path }
    /// Returns `nil`, because lines of the system cannot be recognized.
    public func lineShape(of line: JSONDocument) -> LineShape? { nil }

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
    case fields
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
