import JSONText
import Telemetry

/// Measurements that were captured on their way to Mozilla's server.
///
/// Source: "HTTP Archive (HAR) captures as a source of telemetry", section H.
struct CapturedPing {
    /// How many parts the path of an upload has.
    static let partCount = 8

    private let upload: CapturedUpload
    /// The parts of the path: of a ping without its request, none.
    private let parts: [String]

    init(_ upload: CapturedUpload) {
        self.upload = upload
        let parts = upload.route?.parts ?? []
        self.parts = parts.count == Self.partCount ? parts.map { String(decoding: $0, as: UTF8.self) } : []
    }

    /// Makes the record. Nothing is refused here: what is wrong with the measurements holds the record.
    /// - Parameter document: its root are the measurements, an object.
    func record(in document: inout JSONDocument) -> Record {
        let root = document.root
        var findings = Findings()
        let type = parts.isEmpty ? Self.inferredType(of: root, in: document, findings: &findings) : parts[3]
        let holds = PingNormalizer.normalize(root, type: type, in: &document, findings: &findings)
        let payload = document.canonicalBytes(of: root)
        var record = Record(
            system: .mozilla, type: type, id: parts.isEmpty ? PayloadHash.id(of: payload) : parts[2],
            client: document.text(MeasurementKeys.clientID, in: root), time: upload.time, payload: payload,
            source: upload.source, notes: findings.notes, held: holds)
        if !parts.isEmpty {
            record.app = App(name: parts[4], version: parts[5], channel: parts[6], build: parts[7])
            if !parts[2].utf8.span.isUUID {
                record.notes.append("P9 documentId is no UUID: the decoder rejects it")
                record.held.insert(.schema(["documentId is no UUID"]), at: 0)
            }
        }
        return upload.finished(record)
    }

    /// Of the documented pings only event pings have events, and a mobile-event ping has to tell when its process started.
    private static func inferredType(of root: JSONNode, in document: JSONDocument, findings: inout Findings) -> String {
        let type =
            document.value(of: MeasurementKeys.events, in: root) == nil
            ? "core"
            : document.value(of: MeasurementKeys.processStart, in: root) == nil ? "focus-event" : "mobile-event"
        findings.note("P4 measurements without an envelope; type \(type) inferred from their fields")
        return type
    }
}
