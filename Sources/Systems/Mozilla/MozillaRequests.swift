import Files
import JSONText
import Telemetry

/// The format of captured pings: measurements with or without the envelope that apps store.
///
/// Source: "HTTP Archive (HAR) captures as a source of telemetry", sections C, D and H.
struct MozillaRequests: RequestFormat {
    let hosts = [CapturedHost(MozillaUploads.host)]
    // The server also accepts PUT.
    let methods = ["POST", "PUT"]

    /// The number of components in an upload path.
    private static let pathPartCount = 8

    /// A pool of ping readers, which reuse their memory from one line to the next.
    private static let readers = ValuePool<PingReader, Never> {
        PingReader(.pingFile)
    }

    // A path consists of `/submit/telemetry/` and the six parts of `SubmitPath`. Glean pings have other paths.
    func isUpload(_ parts: [[UInt8]]) -> Bool {
        parts.count == Self.pathPartCount && parts.begin(with: "submit", "telemetry")
    }

    func lineShape(of line: JSONDocument) -> LineShape? {
        func has(_ keys: JSONKey...) -> Bool { keys.allSatisfy { line.value(of: $0, in: line.root) != nil } }
        if has(EnvelopeKeys.documentID, EnvelopeKeys.measurements, EnvelopeKeys.uploadPath) {
            return .stored(Self.record(ofStored:source:))
        }
        // Measurements without an envelope are also a valid ping file (case P4).
        return has(MeasurementKeys.clientID, MeasurementKeys.version) ? .payload(isStoredToo: true) : nil
    }

    private static func record(ofStored line: [UInt8], source: Source) throws(BodyError) -> Record {
        var reader = readers.take()
        defer { readers.recycle(reader) }
        do throws(PingError) {
            return try reader.record(in: line, from: source)
        } catch {
            throw .invalid(error.reject.reason)
        }
    }

    /// Creates the record of captured measurements, and holds the record if the measurements contain faults.
    func record(of upload: CapturedUpload, in document: inout JSONDocument) throws(BodyError) -> Record {
        let root = document.root
        var findings = Findings()
        // Measurements that were captured without their request have no path.
        let path = upload.route?.parts.map { String(decoding: $0, as: UTF8.self) } ?? []
        let parts = path.count == Self.pathPartCount ? path : []
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
        return upload.completed(record)
    }

    /// Returns the ping type that the fields of the measurements indicate, and notes that the type was inferred.
    private static func inferredType(of root: JSONNode, in document: JSONDocument, findings: inout Findings) -> String {
        // Only event pings have events, and only `mobile-event` pings must contain the start time of the process.
        func has(_ key: JSONKey) -> Bool { document.value(of: key, in: root) != nil }
        let eventType = has(MeasurementKeys.processStart) ? "mobile-event" : "focus-event"
        let type = has(MeasurementKeys.events) ? eventType : "core"
        findings.note("P4 measurements without an envelope; type \(type) inferred from their fields")
        return type
    }
}
