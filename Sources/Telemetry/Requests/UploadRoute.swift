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
        let path = (system.requests.path?(address) ?? address.path) + (isSpurious ? "" : address.query)
        let target = Target(path: path)
        self.target = system.uploads.accepts(target) ? target : nil
        if self.target == nil { notes.append("no-target path and query are not in the system's grammar") }
    }

    private static func traffic(
        of address: WebAddress, _ method: String?, _ known: [any TelemetrySystem]
    ) -> OtherTraffic {
        for system in known {
            let method = method?.uppercased() ?? system.uploads.method
            if let traffic = system.requests.otherTraffic?(address.parts, method) { return traffic }
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
