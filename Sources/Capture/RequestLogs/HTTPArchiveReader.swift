import Bytes
import JSONText
import Telemetry

/// A reader for HTTP archive entries that converts uploads of known systems to records.
///
/// Source: "HTTP Archive (HAR) captures as a source of telemetry".
struct HTTPArchiveReader: Sendable {
    /// The key of the format version, which is next to the entries.
    static let version: JSONKey = "version"
    // Real archives contain lone surrogates, which represent binary bytes. The last of several equal keys applies.
    static let policy = JSONReadingPolicy(duplicateKeys: .lastWins, unpairedSurrogates: .keep)

    private let source: Source
    private let systems: SystemTable
    private var entry = JSONDocument()
    private var body = JSONDocument()
    private let onlyDelivered: Bool
    private let attachedBodies: AttachedBodies?

    /// Creates a reader for the archive at `path`, whose bodies may be in other files.
    ///
    /// If `onlyDelivered` is `true`, undelivered requests are treated as other traffic. Requests without a time are
    /// always read, because equal requests without a time are numbered.
    init(
        capture: String, path: String, systems: SystemTable, attachedBodies: AttachedBodies? = nil,
        onlyDelivered: Bool = false
    ) {
        self.systems = systems
        self.attachedBodies = attachedBodies
        self.onlyDelivered = onlyDelivered
        source = Source(capture: capture, path: path, store: .harEntry, index: 0)
    }

    /// Returns whether the JSON value of `log.version` is a known version.
    ///
    /// An empty version and `null` are known too, and mean 1.1.
    static func isKnown(version text: [UInt8]) -> Bool {
        ["\"1.", "1."].contains { text.starts(with: $0.utf8) }
            || ["\"\"", "null"].contains { text.elementsEqual($0.utf8) }
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
            case .fields: try readFields(of: parts, in: requests)
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
        static let file: JSONKey = "_file"
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

    /// Returns the body of a request from its text or from another file, or `nil` if the entry has neither.
    private func storedBody(of parts: HTTPArchiveEntry) throws(BodyError) -> EntryBody? {
        if let text = textNode(of: parts) { return try bytes(of: text, parts) }
        guard let data = parts.postData, let name = entry.text(Keys.file, in: data), let attachedBodies else {
            return nil
        }
        return try EntryBody(stored: try attachedBodies.contents(of: name), encoding: "file")
    }

    /// Returns the body of a form, which may be in base64 although the entry does not state it, or `nil` if the entry has
    /// none.
    private func storedForm(of parts: HTTPArchiveEntry) throws(BodyError) -> EntryBody? {
        let found = try storedBody(of: parts)
        guard found?.encoding == "text", let text = textNode(of: parts) else { return found }
        return EntryBody(undeclaredBase64Form: entry.bytes(of: text)) ?? found
    }

    private func bytes(of text: JSONNode, _ parts: HTTPArchiveEntry) throws(BodyError) -> EntryBody {
        let encoding = parts.postData.flatMap { entry.value(of: Keys.encoding, in: $0) }
        let isBase64 = encoding.map { entry.bytes(of: $0).equalsIgnoringCase("base64") } ?? false
        return try EntryBody(text: entry.bytes(of: text), isBase64: isBase64)
    }

    private mutating func readJSON(of parts: HTTPArchiveEntry) throws(BodyError) -> String {
        guard let found = try storedBody(of: parts) else { throw Self.missing }
        do throws(JSONError) {
            try body.read(found.bytes)
            return found.encoding
        } catch {
            guard let text = textNode(of: parts) else { throw fault(for: error, length: found.bytes.count, parts) }
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
        guard let found = try storedForm(of: parts) else { return try readParameters(of: form, parts) }
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
        guard let selector = parameter(form.selector, in: params) else {
            throw .invalid("the form has no \(form.selector)")
        }
        guard selector.elementsEqual(form.selected.utf8) else { throw .foreign(form.otherwise) }
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
    private mutating func readFields(
        of parts: HTTPArchiveEntry, in format: any RequestFormat
    ) throws(BodyError) -> String {
        let (json, encoding): ([UInt8], String)
        if let found = try storedForm(of: parts) {
            (json, encoding) = (try FormFields.json(of: found.bytes), found.encoding)
        } else {
            let fields = try listedFields(parts)
            (json, encoding) = (try FormFields.json(of: fields, areDecoded: format.areDecoded(fields)), "params")
        }
        do throws(JSONError) {
            try body.read(json)
            return encoding
        } catch {
            throw .invalid("\(error.code.text) in the fields of the form")
        }
    }

    private func listedFields(_ parts: HTTPArchiveEntry) throws(BodyError) -> [FormField] {
        guard let data = parts.postData, let params = entry.array(Keys.params, in: data), entry.count(of: params) > 0
        else { throw Self.missing }
        var fields: [FormField] = []
        for param in entry.elements(of: params) {
            guard let name = entry.value(of: Keys.name, .string, in: param),
                let value = entry.value(of: Keys.value, .string, in: param)
            else { throw .invalid("a field of the form has no name or no value") }
            fields.append(
                FormField(name: entry.bytes(of: name).copied(), value: entry.bytes(of: value).copied()))
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
    /// Creates a timestamp from the start time of an exchange, or returns `nil` if `text` states no instant.
    ///
    /// All forms of ISO 8601 with a calendar date, a time and an offset from UTC are accepted, including the basic forms,
    /// a space before the offset, and the character for minus. White space around the time is ignored.
    init?(started text: String) {
        // The first byte of the character for minus. Replacing is slow, and rarely necessary.
        let text = text.utf8.contains(0xE2) ? text.replacing("\u{2212}", with: "-") : text
        let bytes = Array(text.utf8.withoutOuterBlanks)
        guard let start = bytes.firstIndex(where: { [0x54, 0x74, 0x20].contains($0) }) else { return nil }
        let date = bytes[..<start]
        let rest = bytes[(start + 1)...]
        let zoneStart = rest.firstIndex { !$0.isDigit && ![0x3A, 0x2E, 0x2C].contains($0) } ?? rest.endIndex
        var zone = rest[zoneStart...]
        if zone.first == UInt8(ascii: " ") { zone = zone.dropFirst() }
        guard let date = Self.extendedDate(date), let time = Self.extendedTime(rest[..<zoneStart]),
            let zone = Self.extendedZone(zone)
        else { return nil }
        self.init(rfc3339: (date + [UInt8(ascii: "T")] + time + zone).span)
    }

    /// Returns `date` with hyphens.
    private static func extendedDate(_ date: ArraySlice<UInt8>) -> [UInt8]? {
        guard date.count == 8, date.allSatisfy(\.isDigit) else { return Array(date) }
        return Array(date.prefix(4)) + [0x2D] + date.dropFirst(4).prefix(2) + [0x2D] + date.suffix(2)
    }

    /// Returns `time` with colons, seconds, and a point before the fraction of a second.
    ///
    /// Returns `nil` if a fraction of a minute or an hour is stated.
    private static func extendedTime(_ time: ArraySlice<UInt8>) -> [UInt8]? {
        let end = time.firstIndex { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: ",") } ?? time.endIndex
        let fraction = time[end...].isEmpty ? [] : [UInt8(ascii: ".")] + time[end...].dropFirst()
        var whole = Array(time[..<end])
        if (whole.count == 4 || whole.count == 6) && whole.allSatisfy(\.isDigit) {
            for index in stride(from: whole.count - 2, to: 0, by: -2) { whole.insert(UInt8(ascii: ":"), at: index) }
        }
        if whole.count == 5 && fraction.isEmpty { whole += Array(":00".utf8) }
        return whole.count == 8 ? whole + fraction : nil
    }

    /// Returns the offset `zone` with hours and minutes, or `nil` if it has another form.
    private static func extendedZone(_ zone: ArraySlice<UInt8>) -> [UInt8]? {
        switch zone.count {
        case 1, 6: return Array(zone)
        case 3: return zone + Array(":00".utf8)
        case 5: return Array(zone.prefix(3)) + [UInt8(ascii: ":")] + zone.suffix(2)
        default: return nil
        }
    }
}

// MARK: - Entries

/// The parts of an HTTP archive entry that are read.
///
/// Headers and bodies may contain credentials. Only the body of an upload and the header fields that its system needs
/// are exposed.
///
/// Source: "HTTP Archive (HAR) captures as a source of telemetry", section B.
struct HTTPArchiveEntry {
    let method: String
    let url: String
    /// The start of the exchange, or `nil` if the archive does not state a valid time.
    let time: Timestamp?
    let status: Int
    /// Whether the response is from a cache, so that no request was sent.
    let isFromCache: Bool
    let postData: JSONNode?
    let headers: CapturedHeaders

    private enum Keys {
        static let fromCache: JSONKey = "_fromCache"
        static let headers: JSONKey = "headers"
        static let method: JSONKey = "method"
        static let postData: JSONKey = "postData"
        static let request: JSONKey = "request"
        static let response: JSONKey = "response"
        static let started: JSONKey = "startedDateTime"
        static let status: JSONKey = "status"
        static let url: JSONKey = "url"
    }

    /// The members of an entry that are read.
    ///
    /// Cookies and the contents of responses are excluded.
    static let outline: JSONOutline = [
        "_fromCache": .whole,
        "request": ["headers": .whole, "method": .whole, "postData": .whole, "url": .whole],
        "response": ["status": .whole],
        "startedDateTime": .whole,
    ]

    /// Creates the parts of an entry, or returns `nil` if the entry has no valid request.
    init?(_ document: JSONDocument) {
        let root = document.root
        guard let request = document.value(of: Keys.request, in: root),
            let method = document.text(Keys.method, in: request), let url = document.text(Keys.url, in: request)
        else { return nil }
        self.method = method
        self.url = url
        time = document.text(Keys.started, in: root).flatMap(Timestamp.init(started:))
        status = document.value(of: Keys.response, in: root).map { Self.status(of: $0, in: document) } ?? 0
        isFromCache = document.text(Keys.fromCache, in: root) != nil
        postData = document.value(of: Keys.postData, in: request)
        headers = CapturedHeaders(document.array(Keys.headers, in: request))
    }

    /// Returns the HTTP status of a response, stored as a number or a string, or 0 if there is no valid status.
    private static func status(of response: JSONNode, in document: JSONDocument) -> Int {
        guard let status = document.value(of: Keys.status, in: response) else { return 0 }
        return switch document.kind(of: status) {
        case .number, .string: Int(document.string(of: status)) ?? 0
        default: 0
        }
    }
}

// MARK: - Splitting

/// A splitter that divides an HTTP archive into its entries, and keeps only one entry in memory.
///
/// Source: "HTTP Archive (HAR) captures as a source of telemetry", section A.
struct HTTPArchiveSplitter: ~Copyable {
    private var pieces: TextPieces
    private var arrayReader: JSONArrayStreamReader
    private let layout: HTTPArchiveLayout
    private let itemLimit: Int
    private var index = 0
    private var isAtEnd = false

    var offset: Int { pieces.offset }

    init(_ log: RequestLog) throws {
        pieces = try TextPieces(log.source)
        itemLimit = log.itemLimit
        // The first piece is used to detect the layout, and then split.
        _ = pieces.advance()
        layout = HTTPArchiveLayout(pieces.piece) ?? .standard
        arrayReader = JSONArrayStreamReader(
            path: layout.path, neighbors: layout.neighbors, outline: layout.outline, limit: log.itemLimit)
    }

    /// Returns the next entry or fault, or `nil` at the end.
    mutating func next() -> RawLogItem? {
        guard !isAtEnd else { return nil }
        do throws(JSONError) {
            while true {
                do throws(JSONError) {
                    if let finding = try advanceInPiece() {
                        if let item = item(for: finding) { return item }
                    } else if !pieces.advance() {
                        return end()
                    }
                } catch {
                    guard arrayReader.skipElement(after: error) else { throw error }
                }
            }
        } catch {
            let start = arrayReader.isInElement ? arrayReader.range.lowerBound : error.offset
            return stop("har_invalid \(error.code.text)", at: start + pieces.markLength)
        }
    }

    private mutating func advanceInPiece() throws(JSONError) -> JSONArrayStreamReader.Finding? {
        let piece = pieces.piece
        return try arrayReader.next(in: piece.span, from: &pieces.position)
    }

    private mutating func item(for finding: JSONArrayStreamReader.Finding) -> RawLogItem? {
        switch finding {
        case .neighbor:
            guard !HTTPArchiveReader.isKnown(version: arrayReader.text) else { return nil }
            return stop("unsupported_version only HAR 1.x can be read", at: nil)
        case .element:
            let start = arrayReader.range.lowerBound + pieces.markLength
            let end = arrayReader.range.upperBound + pieces.markLength
            defer { index += 1 }
            if let error = arrayReader.elementError {
                let position = error.offset + pieces.markLength
                let fault = "entry_invalid entry \(index): \(error.code.text) at byte \(position) of the log"
                return RawLogItem(contents: .fault(fault), start: start, end: end)
            }
            guard !arrayReader.isTooLong else {
                let fault = "entry_too_large entry \(index): request of more than \(itemLimit) bytes"
                return RawLogItem(contents: .fault(fault), start: start, end: end)
            }
            guard layout != .charles else {
                let text = CharlesSession.entry(ofExchange: arrayReader.text)
                let fault = "entry_invalid entry \(index): no exchange of a Charles session"
                return RawLogItem(
                    contents: text.map { .text($0, index: index) } ?? .fault(fault), start: start, end: end)
            }
            // A copy has no excess capacity, unlike the buffer of `arrayReader`.
            return RawLogItem(contents: .text(arrayReader.text.span.copied(), index: index), start: start, end: end)
        }
    }

    private mutating func end() -> RawLogItem? {
        let start = arrayReader.isInElement ? arrayReader.range.lowerBound + pieces.markLength : pieces.offset
        if let fault = pieces.fault { return stop("har_damaged \(fault)", at: start) }
        if !arrayReader.isComplete { return stop("har_cut the archive ends too early", at: start) }
        if !arrayReader.hasFoundArray { return stop("har_invalid no log with entries", at: nil) }
        isAtEnd = true
        return nil
    }

    private mutating func stop(_ reason: String, at offset: Int?) -> RawLogItem {
        isAtEnd = true
        return RawLogItem(contents: .fault(reason), start: offset, end: nil)
    }
}
