import Bytes
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

/// The system and the target of a captured upload.
///
/// The route depends only on the method, the host and the path. All of them must match completely, because a log can be
/// forged.
///
/// Source: "HTTP Archive (HAR) captures as a source of telemetry", sections C and D.
public struct UploadRoute: Sendable {
    /// The system that the server belongs to.
    public let system: SystemName
    /// The path and query, or `nil` if the system does not accept them.
    public let target: Target?
    /// The decoded components of the path.
    public let parts: [[UInt8]]
    /// Notes on unexpected properties of the request.
    public private(set) var notes: [String] = []

    /// Determines the route of a request.
    ///
    /// Throws an error if the request is not an upload.
    public init(method: String?, url: String, _ systems: SystemTable) throws(BodyError) {
        guard let address = WebAddress(url) else { throw .foreign(.unrelated) }
        let known = systems.all.filter { system in system.requests.hosts.contains { $0.name == address.host } }
        guard let system = known.last(where: { $0.requests.isUpload(address.parts) }) else {
            throw .foreign(Self.traffic(of: address, method, known))
        }
        try self.init(method: method, address, to: system)
    }

    private init(method: String?, _ address: WebAddress, to system: any TelemetrySystem) throws(BodyError) {
        let usual = system.uploads.method
        let method = method?.uppercased() ?? usual
        guard system.requests.methods.contains(method) else { throw .foreign(.unrelated) }
        self.system = system.name
        parts = address.parts
        if method != usual { notes.append("method \(method) captured, \(usual) is the system's") }
        notes += system.requests.hosts.filter { $0.name == address.host }.compactMap(\.note)
        let isSpurious = address.query == "?" || address.query == "?="
        if isSpurious { notes.append("spurious_query empty query left out") }
        let path = system.requests.path(of: address) + (isSpurious ? "" : address.query)
        let target = Target(path: path)
        self.target = system.uploads.accepts(target) ? target : nil
        if self.target == nil {
            // The query can contain credentials.
            let excerpt = Target.excerpt(of: address.path.utf8.span)
            notes.append("no-target path and query are not in the system's grammar; the path is \(excerpt)")
        }
    }

    private static func traffic(
        of address: WebAddress, _ method: String?, _ known: [any TelemetrySystem]
    ) -> OtherTraffic {
        for system in known {
            let method = method?.uppercased() ?? system.uploads.method
            if let traffic = system.requests.otherTraffic(to: address.parts, method: method) { return traffic }
        }
        return .unrelated
    }
}

extension [[UInt8]] {
    /// Returns whether the components of a path begin with the given strings.
    public func begin(with texts: String...) -> Bool {
        count >= texts.count && zip(self, texts).allSatisfy { $0.elementsEqual($1.utf8) }
    }
}

/// The host, path and query of an absolute `http` or `https` URL.
///
/// Source: "HTTP Archive (HAR) captures as a source of telemetry", section D.
public struct WebAddress: Sendable {
    /// The host in lowercase, without the port and without a trailing dot.
    public let host: String
    /// The path, still percent-encoded.
    public let path: String
    /// The query, still percent-encoded, including the question mark.
    ///
    /// The string is empty if the URL has no query.
    public let query: String
    /// The non-empty components of the path, each percent-decoded once.
    public let parts: [[UInt8]]

    /// Parses an absolute `http` or `https` URL.
    ///
    /// White space around the URL is ignored, as is the fragment, because neither is sent. Returns `nil` if `text` is not a
    /// valid URL with one of these schemes, or if the URL contains user information.
    public init?(_ text: String) {
        let bytes = Array(text.utf8.withoutOuterBlanks)
        guard let authority = Self.authorityStart(in: bytes) else { return nil }
        let pathStart = bytes[authority...].firstIndex { $0.isOne(of: "/?#") } ?? bytes.endIndex
        let end = bytes[pathStart...].firstIndex(of: UInt8(ascii: "#")) ?? bytes.endIndex
        let queryStart = bytes[pathStart..<end].firstIndex(of: UInt8(ascii: "?")) ?? end
        guard let host = Self.host(in: bytes[authority..<pathStart]) else { return nil }
        self.host = host
        path = String(decoding: bytes[pathStart..<queryStart], as: UTF8.self)
        query = String(decoding: bytes[queryStart..<end], as: UTF8.self)
        var parts: [[UInt8]] = []
        for part in bytes[pathStart..<queryStart].split(separator: UInt8(ascii: "/")) {
            guard let decoded = PercentEncoding.decoded(part.span, plusIsSpace: false) else { return nil }
            parts.append(decoded)
        }
        self.parts = parts
    }

    private static func authorityStart(in bytes: [UInt8]) -> Int? {
        for scheme in ["https://", "http://"] where bytes.count > scheme.utf8.count {
            let start = bytes[..<scheme.utf8.count].map { $0.lowercased }
            if start.elementsEqual(scheme.utf8) { return scheme.utf8.count }
        }
        return nil
    }

    /// Returns the host in `authority`, or `nil` if `authority` is malformed or contains user information.
    private static func host(in authority: ArraySlice<UInt8>) -> String? {
        var host = authority
        if let colon = host.lastIndex(of: UInt8(ascii: ":")) {
            guard host[(colon + 1)...].allSatisfy(\.isDigit) else { return nil }
            host = host[..<colon]
        }
        if host.last == UInt8(ascii: ".") { host.removeLast() }
        guard !host.isEmpty, host.allSatisfy(\.isHostByte) else { return nil }
        return String(decoding: host.map(\.lowercased), as: UTF8.self)
    }
}

extension UInt8 {
    /// Whether the byte can occur in a host name.
    ///
    /// Underscores are accepted because the names of staging hosts contain them.
    fileprivate var isHostByte: Bool {
        isDigit || isLetter || self == UInt8(ascii: "-")
            || self == UInt8(ascii: ".") || self == UInt8(ascii: "_")
    }
}
