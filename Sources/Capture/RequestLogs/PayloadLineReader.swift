import JSONText
import Telemetry

/// A reader for the lines of an NDJSON file.
///
/// Each line is a record, a payload, or a payload with a description of its request.
///
/// Source: "Activity Stream New Tab pings of Firefox for iOS (Ping Centre)", section 7.
struct PayloadLineReader: Sendable {
    /// The reading policy for lines.
    ///
    /// The depth limit is one level more than the limit of a payload, because a record or a request encloses the
    /// payload.
    static let policy = JSONReadingPolicy(depthLimit: 513, valueLimit: .fixed)

    private let source: Source
    private let systems: SystemTable
    private var line = JSONDocument()
    private var body = JSONDocument()
    /// Whether the last line was a payload or a request, so that equal payloads must be numbered.
    private(set) var isPayload = false

    private enum Keys {
        static let body: JSONKey = "body"
        static let headers: JSONKey = "headers"
        static let labels: JSONKey = "labels"
        static let method: JSONKey = "method"
        static let payload: JSONKey = "payload"
        static let status: JSONKey = "status"
        static let time: JSONKey = "time"
        static let timestamp: JSONKey = "timestamp"
        static let url: JSONKey = "url"
    }

    init(capture: String, path: String, systems: SystemTable) {
        self.systems = systems
        source = Source(capture: capture, path: path, store: .ndjsonLine, index: 0)
    }

    /// Reads the line at `index` from `bytes`, which do not include the line ending.
    mutating func read(_ bytes: [UInt8], index: Int) -> LogFinding {
        isPayload = false
        do throws(BodyError) {
            return try finding(in: bytes, index: index)
        } catch {
            switch error {
            case .foreign(let traffic): return .other(traffic)
            case .invalid(let reason, let code):
                return .reject("\(code ?? "line_invalid") line \(index + 1): \(reason)")
            }
        }
    }

    private mutating func finding(in bytes: [UInt8], index: Int) throws(BodyError) -> LogFinding {
        do throws(JSONError) {
            try line.read(bytes, policy: Self.policy)
        } catch {
            throw .invalid("\(error)")
        }
        defer { line.reset() }
        var source = source
        source.index = index
        switch LineContents(line, systems) {
        case .record: return .upload(try record(bytes), status: nil)
        case .stored(let read): return .upload(try read(bytes, source), status: nil)
        case .request: return try request(source)
        case .payload(let system, _):
            swap(&line, &body)
            let upload = CapturedUpload(route: nil, time: nil, source: source)
            return .upload(try record(of: upload, by: system.requests), status: nil)
        case nil: throw .invalid("neither a record nor a payload that is documented", code: "line_unknown")
        }
    }

    /// Returns the record on a line.
    ///
    /// If another tool reformatted the record, it is converted to canonical JSON.
    private mutating func record(_ bytes: [UInt8]) throws(BodyError) -> Record {
        var canonical = bytes
        if let labels = line.value(of: Keys.labels, in: line.root) {
            line.removeMember(withValue: labels, from: line.root)
        }
        if (try? Record(line: bytes, using: &body, knowing: systems)) == nil {
            canonical = line.canonicalBytes(of: line.root)
        }
        defer { body.reset() }
        do throws(RecordError) {
            let record = try Record(line: canonical, using: &body, knowing: systems)
            if let contradiction = record.contradiction(knowing: systems) { throw RecordError(contradiction) }
            return record
        } catch {
            throw .invalid("no record: \(error)")
        }
    }

    private mutating func record(of upload: CapturedUpload, by format: RequestFormat) throws(BodyError) -> Record {
        defer { body.reset() }
        isPayload = true
        return try upload.record(by: format, in: &body)
    }
}

// MARK: - A payload in its request

extension PayloadLineReader {
    private mutating func request(_ source: Source) throws(BodyError) -> LogFinding {
        let route = try UploadRoute(
            method: line.text(Keys.method, in: line.root), url: line.text(Keys.url, in: line.root) ?? "", systems)
        guard let requests = systems[route.system]?.requests else { throw .foreign(.unrelated) }
        let time = time
        try readBody(as: requests.body)
        let headers = CapturedHeaders(line.value(of: Keys.headers, in: line.root))
        let upload = CapturedUpload(
            route: route, headers: headers.fields(neededBy: requests, in: line), time: time, source: source)
        var record = try record(of: upload, by: requests)
        guard let value = line.value(of: Keys.status, in: line.root), line.kind(of: value) == .number else {
            return .upload(record, status: nil)
        }
        let status = Int(line.string(of: value)) ?? 0
        record.addAnswer(status, isDelivered: requests.isDelivered(status: status))
        return .upload(record, status: status)
    }

    /// The time of the request, or `nil` if the line contains no valid time.
    ///
    /// The time is stored in RFC 3339 or in milliseconds since 1970.
    private var time: Timestamp? {
        guard let value = line.value(of: Keys.time, in: line.root) ?? line.value(of: Keys.timestamp, in: line.root)
        else { return nil }
        return switch line.kind(of: value) {
        case .string: Timestamp(started: line.string(of: value))
        case .number: Int64(line.string(of: value)).flatMap(Timestamp.init(milliseconds:))
        default: nil
        }
    }

    /// Reads the body of a request, which is an object, or a string that contains an object or a form.
    private mutating func readBody(as kind: CapturedBody) throws(BodyError) {
        guard let value = line.value(of: Keys.body, in: line.root) ?? line.value(of: Keys.payload, in: line.root) else {
            throw .invalid("no body")
        }
        var bytes = line.kind(of: value) == .string ? line.bytes(of: value).copied() : line.canonicalBytes(of: value)
        if bytes.first != UInt8(ascii: "{") {
            switch kind {
            case .json: break
            case .form(let form): bytes = try form.payload(in: bytes)
            case .fields(let form): bytes = try form.json(of: bytes)
            }
        }
        do throws(JSONError) {
            try body.read(bytes)
        } catch {
            throw .invalid("\(error.code.text) at byte \(error.offset) of the body")
        }
    }
}
