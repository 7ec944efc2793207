import JSONText

/// How captured requests of a system are recognized and read, in an HTTP archive or on a line of an NDJSON file.
public protocol RequestFormat: Sendable {
    /// The hosts of its servers, compared as wholes: a log is hostile input.
    var hosts: [CapturedHost] { get }
    /// The methods that a capture may show.
    var methods: [String] { get }
    /// How the payload lies in the body.
    var body: CapturedBody { get }
    /// The names, in lower case, of the header fields that its records are made with. All others of a captured request stay
    /// where they are, for they may be credentials.
    var headers: Set<String> { get }
    /// Whether its payloads carry neither id nor time, so that equal ones honestly repeat and are numbered.
    var payloadsRepeat: Bool { get }

    /// Whether a path on one of the hosts is that of an upload.
    /// - Parameter parts: the parts of the path that are not empty, decoded.
    func isUpload(_ parts: [[UInt8]]) -> Bool
    /// The kind of a request to one of the hosts that is no upload; nil if the system has no word for it.
    func otherTraffic(to parts: [[UInt8]], method: String) -> OtherTraffic?
    /// The path of an upload in the one way that the system's grammar knows to write it.
    func path(of address: WebAddress) -> String
    /// Whether the status of an answer shows that a captured request arrived.
    func isDelivered(status: Int) -> Bool

    /// What a line of an NDJSON file is to the system; nil for nothing.
    func lineShape(of line: JSONDocument) -> LineShape?
    /// Makes a record of a payload.
    /// - Parameter document: holds the payload; its values are brought into the documented form.
    /// - Throws: ``BodyError``.
    func record(of upload: CapturedUpload, in document: inout JSONDocument) throws(BodyError) -> Record
    /// Makes a record of a line that is a file of a store by itself, such as a ping in its envelope.
    /// - Throws: ``BodyError``.
    func record(ofStored line: [UInt8], source: Source) throws(BodyError) -> Record
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

/// What a line of an NDJSON file is to a system, told by its keys.
public enum LineShape: Sendable {
    /// A file of a store by itself, with what stands around the payload.
    case stored
    /// A payload; whether a file of a store may consist of it alone.
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
