import Bytes
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
        static let arguments: JSONKey = "args"
        static let attributes: JSONKey = "attributeMap"
        static let body: JSONKey = "body"
        static let headers: JSONKey = "headers"
        static let labels: JSONKey = "labels"
        static let method: JSONKey = "method"
        static let payload: JSONKey = "payload"
        static let status: JSONKey = "status"
        static let submissionTime: JSONKey = "submission_timestamp"
        static let time: JSONKey = "time"
        static let timestamp: JSONKey = "timestamp"
        static let uri: JSONKey = "uri"
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
        case .pipelineMessage: return try pipelineMessage(source)
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

    private mutating func record(of upload: CapturedUpload, by format: any RequestFormat) throws(BodyError) -> Record {
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
        if time == nil, timeNode != nil { record.notes.append("bad_time the line tells no instant") }
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
        guard let value = timeNode else { return nil }
        return switch line.kind(of: value) {
        case .string: Timestamp(started: line.string(of: value))
        case .number: Timestamp(decimalMilliseconds: line.bytes(of: value))
        default: nil
        }
    }

    /// The value of the member with the time, or `nil` if it is missing or null.
    private var timeNode: JSONNode? {
        guard let value = line.value(of: Keys.time, in: line.root) ?? line.value(of: Keys.timestamp, in: line.root),
            line.kind(of: value) != .null
        else { return nil }
        return value
    }

    /// Reads the body of a request, which is an object, or a string that contains an object or a form.
    private mutating func readBody(as kind: CapturedBody) throws(BodyError) {
        guard let value = line.value(of: Keys.body, in: line.root) ?? line.value(of: Keys.payload, in: line.root) else {
            throw .invalid("no body")
        }
        let isText = line.kind(of: value) == .string
        try readBody(isText ? line.bytes(of: value).copied() : line.canonicalBytes(of: value), as: kind)
    }

    private mutating func readBody(_ bytes: [UInt8], as kind: CapturedBody) throws(BodyError) {
        var bytes = bytes
        if bytes.first != UInt8(ascii: "{") {
            switch kind {
            case .json: break
            case .form(let form): bytes = try form.payload(in: bytes)
            case .fields: bytes = try FormFields.json(of: bytes)
            }
        }
        do throws(JSONError) {
            try body.read(bytes)
        } catch {
            throw .invalid("\(error.code.text) at byte \(error.offset) of the body")
        }
    }
}

// MARK: - Messages of a pipeline

extension PayloadLineReader {
    /// Reads a request in the format in which Mozilla's data pipeline stores it.
    ///
    /// The member `attributeMap` contains the path of the request in `uri`, its query in `args`, and header fields in
    /// lowercase with underscores. The body is in `payload` in base64, and may be compressed with gzip.
    ///
    /// Source: "Activity Stream New Tab pings of Firefox for iOS (Ping Centre)", section 11.
    private mutating func pipelineMessage(_ source: Source) throws(BodyError) -> LogFinding {
        guard let attributes = line.value(of: Keys.attributes, in: line.root),
            let payload = line.value(of: Keys.payload, .string, in: line.root)
        else { throw .invalid("the payload is not a string") }
        let query = line.text(Keys.arguments, in: attributes).map { $0.isEmpty ? "" : "?\($0)" } ?? ""
        let path = (line.text(Keys.uri, in: attributes) ?? "") + query
        let route = try route(ofPath: path, method: line.text(Keys.method, in: attributes))
        guard let requests = systems[route.system]?.requests else { throw .foreign(.unrelated) }
        let time = line.text(Keys.submissionTime, in: attributes).flatMap(Timestamp.init(started:))
        let stored = try EntryBody(text: line.bytes(of: payload), isBase64: true)
        var headers: [HeaderField] = []
        for name in requests.headers {
            let key = name.lowercased().split(separator: "-").joined(separator: "_")
            if let value = line.text(JSONKey(key), in: attributes) { headers.append(HeaderField(name, value)) }
        }
        try readBody(stored.bytes, as: requests.body)
        let upload = CapturedUpload(route: route, headers: headers, time: time, source: source)
        return .upload(try record(of: upload, by: requests), status: nil)
    }

    /// Returns the route of a request whose server is not stated, which is a server of any system that accepts the path.
    private func route(ofPath path: String, method: String?) throws(BodyError) -> UploadRoute {
        var hosts: [String] = []
        for host in systems.all.flatMap(\.requests.hosts) where !hosts.contains(host.name) && host.note == nil {
            hosts.append(host.name)
        }
        var failure = BodyError.foreign(.unrelated)
        for host in hosts {
            do throws(BodyError) {
                return try UploadRoute(method: method, url: "https://\(host)\(path)", systems)
            } catch {
                failure = error
            }
        }
        throw failure
    }
}

// MARK: - Contents of a line

/// The contents of an NDJSON line, recognized by its keys.
///
/// Sources: "Activity Stream New Tab pings of Firefox for iOS (Ping Centre)", section 7, and the documents of the
/// systems.
enum LineContents {
    case record
    /// A payload with a description of its request.
    case request
    /// A request as stored by Mozilla's data pipeline.
    case pipelineMessage
    /// The contents of a store file, which consist of a payload in an envelope.
    case stored(LineShape.Reader)
    /// A payload of a system.
    ///
    /// `isStoredToo` states whether a store file may also consist of only the payload.
    case payload(any TelemetrySystem, isStoredToo: Bool)

    /// Recognizes the contents of a line, or returns `nil` if they are unknown.
    init?(_ document: JSONDocument, _ systems: SystemTable) {
        let root = document.root
        func has(_ keys: JSONKey...) -> Bool { keys.allSatisfy { document.value(of: $0, in: root) != nil } }
        if has("held", "payload", "source", "system") {
            self = .record
        } else if has("url", "body") || has("url", "payload") {
            self = .request
        } else if has("attributeMap", "payload"), let attributes = document.value(of: "attributeMap", in: root),
            document.value(of: "uri", in: attributes) != nil
        {
            self = .pipelineMessage
        } else {
            self.init(ofSystems: systems, document)
        }
    }

    // An envelope of any system takes precedence over a payload, because an envelope has more keys.
    private init?(ofSystems systems: SystemTable, _ document: JSONDocument) {
        var found: LineContents?
        for system in systems.all.reversed() {
            switch system.requests.lineShape(of: document) {
            case .stored(let reader)?:
                self = .stored(reader)
                return
            case .payload(let isStoredToo)?: found = found ?? .payload(system, isStoredToo: isStoredToo)
            case nil: continue
            }
        }
        guard let found else { return nil }
        self = found
    }

    /// Parses a line and recognizes its contents, or returns `nil` if they are unknown.
    init?(line: [UInt8], _ systems: SystemTable) {
        guard let document = try? JSONDocument(line, policy: PayloadLineReader.policy) else { return nil }
        self.init(document, systems)
    }

    /// Whether a file that consists of only this line may be a store file.
    var mayBeStoreFile: Bool {
        switch self {
        case .record, .request, .pipelineMessage: false
        case .stored: true
        case .payload(_, let isStoredToo): isStoredToo
        }
    }

    /// Whether the line describes a request, as an object of another program may.
    var isRequest: Bool {
        if case .request = self { true } else { false }
    }

    var isRecord: Bool {
        if case .record = self { true } else { false }
    }
}

/// The header fields of a captured request, stored as an object, an array of pairs, or an array of objects.
///
/// Header fields may contain credentials. Therefore, only fields that are requested by name are exposed.
struct CapturedHeaders {
    private let node: JSONNode?

    private enum Keys {
        static let name: JSONKey = "name"
        static let value: JSONKey = "value"
    }

    init(_ node: JSONNode?) {
        self.node = node
    }

    func first(_ name: String, in document: JSONDocument) -> JSONNode? {
        var found: JSONNode?
        forEach(in: document) { key, value in
            if found == nil, document.bytes(of: key).equalsIgnoringCase(name) { found = value }
        }
        return found
    }

    /// Returns the fields that `format` needs.
    ///
    /// A secret value, or a value that is not a string, is replaced by an empty string.
    func fields(neededBy format: any RequestFormat, in document: JSONDocument) -> [HeaderField] {
        let names = format.headers + format.secretHeaders
        guard !names.isEmpty else { return [] }
        var fields: [HeaderField] = []
        forEach(in: document) { key, value in
            guard let name = names.first(where: { document.bytes(of: key).equalsIgnoringCase($0) }) else { return }
            let isReadable = !format.secretHeaders.contains(name) && value.map { document.kind(of: $0) } == .string
            fields.append(
                HeaderField(
                    document.string(of: key), value.flatMap { isReadable ? document.string(of: $0) : nil } ?? ""))
        }
        return fields
    }

    private func forEach(in document: JSONDocument, _ body: (_ name: JSONNode, _ value: JSONNode?) -> Void) {
        guard let node else { return }
        for member in document.members(of: node) { body(member.key, member.value) }
        document.forEachElement(of: node) { current in
            let pair = document.kind(of: current) == .array ? document.elements(of: current) : []
            if let key = pair.first ?? document.value(of: Keys.name, in: current), document.kind(of: key) == .string {
                body(key, pair.count == 2 ? pair[1] : document.value(of: Keys.value, in: current))
            }
        }
    }
}
