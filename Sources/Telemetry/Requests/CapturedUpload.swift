import JSONText

/// A captured payload and the known facts about its request.
///
/// ```swift
/// let route = try UploadRoute(method: "POST", url: url, Systems.table)
/// let upload = CapturedUpload(route: route, time: nil, source: source)
/// var document = try JSONDocument(body)
/// if let system = Systems.table[route.system] {
///     record = try upload.record(by: system.requests, in: &document)
/// }
/// ```
public struct CapturedUpload: Sendable {
    /// The route of the request, or `nil` if only the payload was captured.
    public let route: UploadRoute?
    /// The header fields listed in ``RequestFormat/headers`` and ``RequestFormat/secretHeaders``, as captured.
    ///
    /// The order and letter case of the capture are preserved. A repeated field is listed more than once. A secret
    /// value, or a value that is not a string, is replaced by an empty string.
    public let headers: [HeaderField]
    /// The time at which the request was captured, or `nil` if it is unknown.
    public let time: Timestamp?
    /// The place in the capture where the payload was found.
    public let source: Source

    /// Creates a captured upload.
    public init(route: UploadRoute?, headers: [HeaderField] = [], time: Timestamp?, source: Source) {
        self.route = route
        self.headers = headers
        self.time = time
        self.source = source
    }

    /// Creates a record from the payload in `document`, and converts the payload to the documented form.
    public func record(by format: any RequestFormat, in document: inout JSONDocument) throws(BodyError) -> Record {
        guard document.kind(of: document.root) == .object else { throw .invalid("the body is no object") }
        return try format.record(of: self, in: &document)
    }

    /// Returns `record` with the target and the notes of the route.
    ///
    /// If only the payload was captured, the target is `fallback`. If there is no target, a hold is added.
    public func completed(_ record: Record, defaultTarget fallback: Target? = nil) -> Record {
        var record = record
        record.notes += route?.notes ?? []
        record.target = route == nil ? fallback : route?.target
        if record.target == nil { record.held.append(.noTarget) }
        return record
    }
}

/// The reason why a captured request cannot be converted to a record.
///
/// The description must not contain captured data.
public enum BodyError: Error {
    /// The server would not accept the body. If `code` is `nil`, the default code is reported.
    case invalid(String, code: String? = nil)
    /// The request is not an upload of a known system.
    case foreign(OtherTraffic)
}

/// The result of reading an entry of a request log, or a line of an NDJSON file.
public enum LogFinding: Sendable {
    /// An upload and the status of its answer. The status is 0 if no answer was captured, and `nil` if the entry states
    /// no status.
    case upload(Record, status: Int?)
    /// A request that is not an upload.
    case other(OtherTraffic)
    /// An entry that cannot be parsed, with a code and an explanation.
    case reject(String)
}

extension Record {
    /// Adds the status of the answer to the record.
    ///
    /// The status is added as a hold if the upload was delivered, and as a note if not.
    public mutating func addAnswer(_ status: Int, isDelivered: Bool) {
        if isDelivered {
            held.append(.delivered(status: status))
        } else {
            notes.append(status == 0 ? "no answer was seen" : "server answered \(status)")
        }
    }

    /// The status of the answer that proves that the upload was delivered, or `nil` if there is no such answer.
    public var deliveredStatus: Int? {
        held.first { $0.code == Hold.delivered(status: 0).code }.flatMap { $0.detail.flatMap { Int($0) } }
    }
}

/// A check of whether all items of a list request have the same client.
public struct ClientTally: Sendable {
    /// The client of the first item that has one, or `nil` if no item has a client.
    public private(set) var first: String?
    private var isMixed = false

    /// Creates a tally without clients.
    public init() {}

    /// Adds the client of an item.
    ///
    /// Ids that differ only in letter case are equal, as for upload limits.
    public mutating func count(_ client: String?) {
        guard let client else { return }
        guard let first else { return first = client }
        // This exact comparison is fast, and usually suffices because consecutive ids are mostly equal.
        guard !isMixed, !first.utf8.span.equals(client.utf8.span) else { return }
        isMixed = ClientID(first) != ClientID(client)
    }

    /// The hold for a request with events of several clients, or `nil` if there is only one client.
    public var hold: Hold? { isMixed ? .severalClients : nil }
}
