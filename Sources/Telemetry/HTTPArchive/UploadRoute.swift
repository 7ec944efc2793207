/// Where a captured request goes, if it is an upload of one of the four systems.
///
/// Decided by method, host and path alone, compared as wholes: a log is hostile input.
///
/// Source: "HTTP Archive (HAR) captures as a source of telemetry", sections C and D.
struct UploadRoute {
    /// Whose server it is.
    let system: TelemetrySystem
    /// Path and query in the system's grammar; nil if they are not in it.
    let target: Target?
    /// The parts of the path, decoded.
    let parts: [[UInt8]]
    /// What was odd about the request.
    private(set) var notes: [String] = []

    /// Why a request is no upload.
    enum Refusal: Error {
        /// It has nothing to do with the four systems.
        case unrelated
        /// The predecessor of Activity Stream's pings.
        case onyx
    }

    /// Classifies a request.
    /// - Parameter method: nil where the capture does not tell it.
    init(method: String?, url: String) throws(Refusal) {
        guard let address = WebAddress(url), let system = Self.system(host: address.host) else {
            throw .unrelated
        }
        let method = method?.uppercased() ?? system.method
        guard Self.isUpload(address.parts, to: system) else {
            throw method == "POST" && Self.isOnyx(address.parts, system) ? .onyx : .unrelated
        }
        guard system.methods.contains(method) else { throw .unrelated }
        self.system = system
        parts = address.parts
        if method != system.method { notes.append("method \(method) captured, \(system.method) is the system's") }
        if address.host == Self.stagingHost { notes.append("staging captured on its way to the staging host") }
        let isSpurious = address.query == "?" || address.query == "?="
        if isSpurious { notes.append("spurious_query empty query left out") }
        let path = Self.path(of: address, to: system) + (isSpurious ? "" : address.query)
        let target = Target(path: path)
        self.target = target.isKnown(to: system) ? target : nil
        if self.target == nil { notes.append("no-target path and query are not in the system's grammar") }
    }

    private static let stagingHost = "onyx_tiles.stage.mozaws.net"

    private static func system(host: String) -> TelemetrySystem? {
        switch host {
        case "incoming.telemetry.mozilla.org": .mozilla
        case "tiles.services.mozilla.com", stagingHost: .activityStream
        case "api3.siftscience.com": .sift
        case "api.leanplum.com", "www.leanplum.com": .leanplum
        default: nil
        }
    }

    private static func isUpload(_ parts: [[UInt8]], to system: TelemetrySystem) -> Bool {
        switch system {
        case .mozilla: parts.count == 8 && parts.begin(with: "submit", "telemetry")
        case .activityStream: parts.count == 3 && parts.begin(with: "v3", "links", "ping-centre")
        case .sift:
            parts.count == 4 && parts.begin(with: "v3", "accounts") && parts[3].elementsEqual("mobile_events".utf8)
        case .leanplum: parts.count == 1 && parts.begin(with: "api")
        }
    }

    private static func isOnyx(_ parts: [[UInt8]], _ system: TelemetrySystem) -> Bool {
        system == .activityStream && parts.count == 3 && parts.begin(with: "v3", "links", "activity-stream")
    }

    /// The path as written; an account id in the one way that the system's grammar knows to write it.
    private static func path(of address: WebAddress, to system: TelemetrySystem) -> String {
        guard system == .sift, let account = String(validating: address.parts[2], as: UTF8.self) else {
            return address.path
        }
        return SiftTarget.path(account: account) ?? address.path
    }
}

extension TelemetrySystem {
    /// The method that the system's apps send with.
    fileprivate var method: String { self == .sift ? "PUT" : "POST" }

    /// The methods that a capture may show.
    fileprivate var methods: [String] {
        switch self {
        case .mozilla, .sift: ["POST", "PUT"]
        case .leanplum, .activityStream: ["POST"]
        }
    }
}

extension [[UInt8]] {
    fileprivate func begin(with texts: String...) -> Bool {
        count >= texts.count && zip(self, texts).allSatisfy { $0.elementsEqual($1.utf8) }
    }
}
