import JSONText
import Telemetry

/// The format of captured pings: request bodies, and debugging tags in request headers.
///
/// Source: "Mozilla Glean SDK on iOS: on-disk stores, normalized pings, upload", section 14; "HTTP Archive (HAR)
/// captures as a source of telemetry", sections C and D.
enum GleanRequests {
    static let format = RequestFormat(
        hosts: [CapturedHost(GleanUploads.host)], methods: [GleanUploads.method], body: .json,
        headers: [PingTags.debugID, PingTags.sourceTags], secretHeaders: [],
        payloadsRepeat: false,
        isUpload: isUpload(_:), otherTraffic: nil, path: nil, deliveredStatuses: 200...200,
        lineShape: lineShape(of:), record: record(of:in:))

    /// The number of components in an upload path.
    private static let partCount = 5

    /// Returns whether `parts` are the components of the upload path of a Glean ping instead of a telemetry-ios ping.
    private static func isUpload(_ parts: [[UInt8]]) -> Bool {
        parts.count == partCount && parts.begin(with: "submit") && !parts.begin(with: "submit", "telemetry")
    }

    /// Recognizes a line as the body of a ping if it has the sections `client_info` and `ping_info`.
    ///
    /// Returns `nil` for any other line.
    private static func lineShape(of line: JSONDocument) -> LineShape? {
        let hasInfo = [GleanKeys.clientInfo, GleanKeys.pingInfo].allSatisfy { key in
            line.value(of: key, .object, in: line.root) != nil
        }
        return hasInfo ? .payload(isStoredToo: false) : nil
    }

    private static func record(of upload: CapturedUpload, in document: inout JSONDocument) throws(BodyError) -> Record {
        let parts = upload.route?.parts.map { String(decoding: $0, as: UTF8.self) } ?? []
        let facts = PingBodyFacts(of: document, needsInfo: nil)
        let payload = document.canonicalBytes(of: document.root)
        let isRouted = parts.count == partCount
        var record = Record(
            system: .glean, type: isRouted ? parts[2] : "unknown",
            id: isRouted ? parts[4] : PayloadHash.id(of: payload), client: facts.client,
            time: facts.time ?? upload.time, app: facts.app(id: isRouted ? parts[1] : nil), payload: payload,
            source: upload.source)
        record = upload.completed(record)
        let tags = PingTags(upload.headers)
        tags.apply(to: &record)
        record.notes += facts.notes(onPingNamed: record.type)
        let holds = [
            facts.capabilityHold(metadataCapabilities: []), tags.rejectedTagNames.isEmpty ? nil : Hold("headers"),
        ]
        record.held = holds.compactMap(\.self) + record.held + [facts.schemaHold].compactMap(\.self)
        return record
    }
}
