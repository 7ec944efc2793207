import JSONText
import Telemetry

/// Captured pings: the bodies as they go to the server, with the tags in the header of the request.
///
/// Source: "Mozilla Glean SDK on iOS: on-disk stores, normalized pings, upload", section 14; "HTTP Archive (HAR) captures as a
/// source of telemetry", sections C and D.
struct GleanRequests: RequestFormat {
    let hosts = [CapturedHost(GleanServer.host)]
    let methods = [GleanServer.method]
    let body = CapturedBody.json
    let headers: Set<String> = [PingTags.debugID.lowercased(), PingTags.sourceTags.lowercased()]
    let payloadsRepeat = false

    /// How many parts the path of an upload has.
    private static let partCount = 5

    /// `/submit/` and the four parts of ``GleanPath``. Pings of telemetry-ios go to the same host and have other paths.
    func isUpload(_ parts: [[UInt8]]) -> Bool {
        parts.count == Self.partCount && parts.begin(with: "submit") && !parts.begin(with: "submit", "telemetry")
    }

    func otherTraffic(to parts: [[UInt8]], method: String) -> OtherTraffic? { nil }

    func path(of address: WebAddress) -> String { address.path }

    func isDelivered(status: Int) -> Bool { status == 200 }

    /// A body with the sections of information. One without them has nothing by which to know it.
    func lineShape(of line: JSONDocument) -> LineShape? {
        let hasInfo = [GleanSchema.clientInfo, GleanSchema.pingInfo].allSatisfy { key in
            line.value(of: key, in: line.root).map { line.kind(of: $0) == .object } ?? false
        }
        return hasInfo ? .payload(isStoredToo: false) : nil
    }

    func record(of upload: CapturedUpload, in document: inout JSONDocument) throws(BodyError) -> Record {
        let parts = upload.route?.parts.map { String(decoding: $0, as: UTF8.self) } ?? []
        let facts = PingBody(of: document, needsInfo: nil)
        let payload = document.canonicalBytes(of: document.root)
        let isRouted = parts.count == Self.partCount
        var record = Record(
            system: .glean, type: isRouted ? parts[2] : "unknown",
            id: isRouted ? parts[4] : PayloadHash.id(of: payload), client: facts.client,
            time: facts.time ?? upload.time, app: facts.app(id: isRouted ? parts[1] : nil), payload: payload,
            source: upload.source)
        record = upload.finished(record)
        let tags = PingTags(upload.headers)
        tags.tell(&record)
        record.notes += facts.notes
        let holds = [facts.capabilityHold([]), tags.refused.isEmpty ? nil : Hold("headers")]
        record.held = holds.compactMap(\.self) + record.held + [facts.hold].compactMap(\.self)
        return record
    }

    func record(ofStored line: [UInt8], source: Source) throws(BodyError) -> Record {
        throw .invalid("a ping file has two lines at least")
    }
}
