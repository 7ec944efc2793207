import Bytes
import JSONText
import Telemetry

/// A reader for HTTP archive entries that converts uploads of known systems to records.
///
/// Source: "HTTP Archive (HAR) captures as a source of telemetry".
struct HTTPArchiveReader: Sendable {
    static let path: [JSONKey] = ["log", "entries"]
    /// The key of the format version, which is next to the entries.
    static let version: JSONKey = "version"
    // Real archives contain lone surrogates, which represent binary bytes. The last of several equal keys applies.
    private static let policy = JSONReadingPolicy(duplicateKeys: .lastWins, unpairedSurrogates: .keep)

    private let source: Source
    private let systems: SystemTable
    private var entry = JSONDocument()
    private var body = JSONDocument()
    private let onlyDelivered: Bool

    /// Creates a reader for the archive at `path`.
    ///
    /// If `onlyDelivered` is `true`, undelivered requests are treated as other traffic. Requests without a time are
    /// always read, because equal requests without a time are numbered.
    init(capture: String, path: String, systems: SystemTable, onlyDelivered: Bool = false) {
        self.systems = systems
        self.onlyDelivered = onlyDelivered
        source = Source(capture: capture, path: path, store: .harEntry, index: 0)
    }

    /// Returns whether the JSON value of `log.version` is a known version.
    ///
    /// An empty version is known too, and means 1.1.
    static func isKnown(version text: [UInt8]) -> Bool {
        text.starts(with: "\"1.".utf8) || text.elementsEqual("\"\"".utf8)
    }

    /// Reads the entry at `index` from `text`, which contains only the members in ``HTTPArchiveEntry/outline``.
    mutating func read(_ text: [UInt8], index: Int) -> LogFinding {
        do throws(BodyError) {
            return try finding(in: text, index: index)
        } catch {
            switch error {
            case .foreign(let traffic): return .other(traffic)
            case .invalid(let reason, let code): return .reject("\(code ?? "body_invalid") \(reason)")
            }
        }
    }

    private mutating func finding(in text: [UInt8], index: Int) throws(BodyError) -> LogFinding {
        do throws(JSONError) {
            try entry.read(text, policy: Self.policy)
        } catch {
            throw .invalid(error.code.text, code: "entry_invalid")
        }
        defer { entry.reset() }
        guard let parts = HTTPArchiveEntry(entry) else {
            throw .invalid("no request with method and url", code: "entry_invalid")
        }
        if onlyDelivered, parts.time != nil,
            !systems.all.contains(where: { $0.requests.isDelivered(status: parts.status) })
        {
            throw .foreign(.unrelated)
        }
        let route = try UploadRoute(method: parts.method, url: parts.url, systems)
        guard !parts.isFromCache, let requests = systems[route.system]?.requests else { throw .foreign(.unrelated) }
        let encoding =
            switch requests.body {
            case .json: try readJSON(of: parts)
            case .form(let form): try read(form, of: parts)
            case .fields(let form): try read(form, of: parts)
            }
        defer { body.reset() }
        var source = source
        source.index = index
        let headers = parts.headers.fields(neededBy: requests, in: entry)
        let upload = CapturedUpload(route: route, headers: headers, time: parts.time, source: source)
        var record = try upload.record(by: requests, in: &body)
        if parts.time == nil { record.notes.append("bad_time startedDateTime tells no instant") }
        if encoding != "text" { record.notes.append("E.2 body spelled as \(encoding)") }
        record.addAnswer(parts.status, isDelivered: requests.isDelivered(status: parts.status))
        return .upload(record, status: parts.status)
    }
}

// MARK: - Bodies

extension HTTPArchiveReader {
    private enum Keys {
        static let encoding: JSONKey = "encoding"
        static let name: JSONKey = "name"
        static let params: JSONKey = "params"
        static let text: JSONKey = "text"
        static let value: JSONKey = "value"
    }

    private static let missing = BodyError.invalid("the archive has no body of the request", code: "body_missing")

    private func textNode(of parts: HTTPArchiveEntry) -> JSONNode? {
        guard let data = parts.postData, let text = entry.value(of: Keys.text, in: data),
            entry.kind(of: text) == .string,
            !entry.bytes(of: text).isEmpty
        else { return nil }
        return text
    }

    private func bytes(of text: JSONNode, _ parts: HTTPArchiveEntry) throws(BodyError) -> EntryBody {
        let encoding = parts.postData.flatMap { entry.value(of: Keys.encoding, in: $0) }
        let isBase64 = encoding.map { entry.bytes(of: $0).equalsIgnoringCase("base64") } ?? false
        return try EntryBody(text: entry.bytes(of: text), isBase64: isBase64)
    }

    private mutating func readJSON(of parts: HTTPArchiveEntry) throws(BodyError) -> String {
        guard let text = textNode(of: parts) else { throw Self.missing }
        let found = try bytes(of: text, parts)
        do throws(JSONError) {
            try body.read(found.bytes)
            return found.encoding
        } catch {
            // Undeclared base64 is accepted only if the text itself is not JSON.
            if found.encoding == "text",
                let decoded = try? EntryBody(text: entry.bytes(of: text), isBase64: true),
                (try? body.read(decoded.bytes)) != nil
            {
                return decoded.encoding
            }
            throw fault(for: error, length: entry.bytes(of: text).count, parts)
        }
    }

    private func fault(for error: JSONError, length: Int, _ parts: HTTPArchiveEntry) -> BodyError {
        let statedLength = parts.headers.first("content-length", in: entry).flatMap { Int(entry.string(of: $0)) }
        let isEncoded = parts.headers.first("content-encoding", in: entry) != nil
        let isCut = !isEncoded && statedLength.map { $0 > length } ?? false
        return isCut
            ? .invalid("the body is shorter than the request said", code: "body_truncated")
            : .invalid("\(error.code.text) at byte \(error.offset) of the body")
    }

    /// Reads the payload of a form into `body`, and returns the encoding of the form.
    private mutating func read(_ form: FormBody, of parts: HTTPArchiveEntry) throws(BodyError) -> String {
        guard let text = textNode(of: parts) else { return try readParameters(of: form, parts) }
        let found = try bytes(of: text, parts)
        let payload = try form.payload(in: found.bytes)
        do throws(JSONError) {
            try body.read(payload)
            return found.encoding
        } catch {
            throw fault(for: error, length: found.bytes.count, parts)
        }
    }

    /// Reads the payload into `body` from a list of form fields.
    ///
    /// The value of the payload field may be percent-encoded.
    private mutating func readParameters(of form: FormBody, _ parts: HTTPArchiveEntry) throws(BodyError) -> String {
        guard let data = parts.postData, let params = entry.array(Keys.params, in: data), entry.count(of: params) > 0
        else { throw Self.missing }
        guard let selector = parameter(form.selector, in: params), selector.elementsEqual(form.selected.utf8) else {
            throw .foreign(form.otherwise)
        }
        guard let raw = parameter(form.payload, in: params) else { throw .invalid("the form has no \(form.payload)") }
        if (try? body.read(raw)) != nil { return "params" }
        guard let decoded = PercentEncoding.decoded(raw.span, plusIsSpace: true) else {
            throw .invalid("malformed percent-encoding")
        }
        do throws(JSONError) {
            try body.read(decoded)
            return "params"
        } catch {
            throw .invalid("\(error.code.text) at byte \(error.offset) of \(form.payload)")
        }
    }

    /// Reads all fields of a form into `body`, and returns the encoding of the form.
    private mutating func read(_ form: FormFields, of parts: HTTPArchiveEntry) throws(BodyError) -> String {
        let (json, encoding): ([UInt8], String)
        if let text = textNode(of: parts) {
            let found = try bytes(of: text, parts)
            (json, encoding) = (try form.json(of: found.bytes), found.encoding)
        } else {
            (json, encoding) = (try form.json(of: try listedFields(parts)), "params")
        }
        do throws(JSONError) {
            try body.read(json)
            return encoding
        } catch {
            throw .invalid("\(error.code.text) in the fields of the form")
        }
    }

    private func listedFields(_ parts: HTTPArchiveEntry) throws(BodyError) -> [FormFields.Field] {
        guard let data = parts.postData, let params = entry.array(Keys.params, in: data), entry.count(of: params) > 0
        else { throw Self.missing }
        var fields: [FormFields.Field] = []
        for param in entry.elements(of: params) {
            guard let name = entry.value(of: Keys.name, .string, in: param),
                let value = entry.value(of: Keys.value, .string, in: param)
            else { throw .invalid("a field of the form has no name or no value") }
            fields.append(
                FormFields.Field(name: entry.bytes(of: name).copied(), value: entry.bytes(of: value).copied()))
        }
        return fields
    }

    private func parameter(_ name: String, in params: JSONNode) -> [UInt8]? {
        for param in entry.elements(of: params) where entry.text(Keys.name, in: param) == name {
            guard let value = entry.value(of: Keys.value, in: param), entry.kind(of: value) == .string else {
                return nil
            }
            return entry.bytes(of: value).copied()
        }
        return nil
    }
}

extension Timestamp {
    /// Creates a timestamp from the start time of an exchange, or returns `nil` if `text` is invalid or only a date.
    init?(started text: String) {
        guard text.utf8.count > 10 else { return nil }
        self.init(rfc3339: text)
    }
}
