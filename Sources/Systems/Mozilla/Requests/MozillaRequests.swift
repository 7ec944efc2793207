import JSONText
import Parallel
import Telemetry

/// Describes captured pings: the measurements as they go to the server, or in the envelope that apps store.
///
/// Source: "HTTP Archive (HAR) captures as a source of telemetry", sections C, D and H.
enum MozillaRequests {
    static let format = RequestFormat(
        hosts: [CapturedHost(MozillaServer.host)], methods: [MozillaServer.method, MozillaServer.otherMethod],
        body: .json, headers: [], payloadsRepeat: false,
        // `/submit/telemetry/` and the six parts of `SubmitPath`. Pings of Glean go to the same host and have other paths.
        isUpload: { $0.count == CapturedPing.partCount && $0.begin(with: "submit", "telemetry") },
        otherTraffic: nil, path: nil,
        // Only 200 proves a delivery. `MozillaUploads` explains why uploads accept any 2xx.
        deliveredStatuses: 200...200, lineShape: lineShape(of:),
        record: { upload, document in CapturedPing(upload).record(in: &document) })

    /// Readers that keep their memory from one line to the next. Each call sets the place of the reader that it uses.
    private static let readers = SparePool<PingReader, Never> {
        PingReader(at: MozillaPlace(capture: "", path: "", store: .mozillaPingFile, namedType: ""))
    }

    private static func lineShape(of line: JSONDocument) -> LineShape? {
        func has(_ keys: JSONKey...) -> Bool { keys.allSatisfy { line.value(of: $0, in: line.root) != nil } }
        if has(EnvelopeKeys.documentID, EnvelopeKeys.measurements, EnvelopeKeys.uploadPath) {
            return .stored(record(ofStored:source:))
        }
        // Measurements without an envelope are a ping file too [P4].
        return has(MeasurementKeys.clientID, MeasurementKeys.version) ? .payload(isStoredToo: true) : nil
    }

    private static func record(ofStored line: [UInt8], source: Source) throws(BodyError) -> Record {
        let place = MozillaPlace(capture: source.capture, path: source.path, store: source.store, namedType: "")
        var output = ScanOutput(capture: source.capture, path: source.path)
        readers.withSpare { reader in
            reader.place = place
            reader.readPingFile(line, into: &output)
        }
        guard var record = output.records.first else {
            throw .invalid(output.rejects.first?.reason ?? "no envelope")
        }
        record.source.index = source.index
        return record
    }
}
