import JSONText
import Synchronization
import Telemetry

/// Captured pings: the measurements as they go to the server, or in the envelope that apps store.
///
/// Source: "HTTP Archive (HAR) captures as a source of telemetry", sections C, D and H.
struct MozillaRequests: RequestFormat {
    let hosts = [CapturedHost(MozillaServer.host)]
    let methods = [MozillaServer.method, MozillaServer.otherMethod]
    let body = CapturedBody.json
    let headers: Set<String> = []
    let payloadsRepeat = false

    private let readers = SparePingReaders()

    /// `/submit/telemetry/` and the six parts of ``SubmitPath``. Pings of Glean go to the same host and have other paths.
    func isUpload(_ parts: [[UInt8]]) -> Bool {
        parts.count == CapturedPing.partCount && parts.begin(with: "submit", "telemetry")
    }

    func otherTraffic(to parts: [[UInt8]], method: String) -> OtherTraffic? { nil }

    func path(of address: WebAddress) -> String { address.path }

    /// Only 200 proves a delivery. ``MozillaUploads/format`` explains why uploads accept any 2xx.
    func isDelivered(status: Int) -> Bool { status == 200 }

    func lineShape(of line: JSONDocument) -> LineShape? {
        func has(_ keys: JSONKey...) -> Bool { keys.allSatisfy { line.value(of: $0, in: line.root) != nil } }
        if has(EnvelopeKeys.documentID, EnvelopeKeys.measurements, EnvelopeKeys.uploadPath) { return .stored }
        // Measurements without an envelope are a ping file too [P4].
        return has(MeasurementKeys.clientID, MeasurementKeys.version) ? .payload(isStoredToo: true) : nil
    }

    func record(of upload: CapturedUpload, in document: inout JSONDocument) throws(BodyError) -> Record {
        CapturedPing(upload).record(in: &document)
    }

    func record(ofStored line: [UInt8], source: Source) throws(BodyError) -> Record {
        let place = MozillaPlace(capture: source.capture, path: source.path, store: source.store, namedType: "")
        var output = ScanOutput(capture: source.capture, path: source.path)
        readers.withReader(at: place) { $0.readPingFile(line, into: &output) }
        guard var record = output.found.first?.record else {
            throw .invalid(output.rejects.first?.reason ?? "no envelope")
        }
        record.source.index = source.index
        return record
    }
}

/// Readers that keep their memory from one line to the next, one for each thread that reads lines.
private final class SparePingReaders: Sendable {
    private let spares = Mutex<[PingReader]>([])

    func withReader(at place: MozillaPlace, _ body: (inout PingReader) -> Void) {
        var reader = spares.withLock { $0.popLast() } ?? PingReader(at: place)
        reader.place = place
        body(&reader)
        spares.withLock { [reader] in $0.append(reader) }
    }
}
