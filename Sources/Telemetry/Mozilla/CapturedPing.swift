import JSONText

extension CapturedUpload {
    /// A record of measurements on their way to Mozilla's server.
    ///
    /// Source: "HTTP Archive (HAR) captures as a source of telemetry", section H.
    func mozillaRecord(in document: inout JSONDocument) -> Record {
        let root = document.root
        let parts = route?.parts.map { String(decoding: $0, as: UTF8.self) } ?? []
        var findings = Findings()
        let type = parts.count == 8 ? parts[3] : Self.inferredType(of: root, in: document, findings: &findings)
        let holds = PingNormalizer.normalize(root, type: type, in: &document, findings: &findings)
        let payload = document.canonicalBytes(of: root)
        var record = Record(
            system: .mozilla, type: type, id: parts.count == 8 ? parts[2] : PayloadHash.id(of: payload),
            client: document.text(MeasurementKeys.clientID, in: root), time: time, payload: payload, source: source,
            notes: findings.notes, held: holds)
        if parts.count == 8 {
            record.app = App(name: parts[4], version: parts[5], channel: parts[6], build: parts[7])
            if !parts[2].utf8.span.isUUID {
                record.notes.append("P9 documentId is no UUID: the decoder rejects it")
                record.held.insert(.schema(["documentId is no UUID"]), at: 0)
            }
        }
        return finished(record)
    }

    /// Of the documented pings only event pings have events, and a mobile-event ping has to tell when its process started.
    private static func inferredType(of root: JSONNode, in document: JSONDocument, findings: inout Findings) -> String {
        let type =
            document.value(of: MeasurementKeys.events, in: root) == nil
            ? "core"
            : document.value(of: "processStartTimestamp", in: root) == nil ? "focus-event" : "mobile-event"
        findings.note("P4 measurements without an envelope; type \(type) inferred from their fields")
        return type
    }
}
