import Bytes

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
        if self.target == nil { notes.append("no-target path and query are not in the system's grammar") }
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
    /// The fragment is ignored because it is not sent. Returns `nil` if `text` is not a valid URL with one of these
    /// schemes, or if the URL contains user information.
    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard let authority = Self.authorityStart(in: bytes) else { return nil }
        let pathStart = bytes[authority...].firstIndex { "/?#".utf8.contains($0) } ?? bytes.endIndex
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
