import JSONText

/// Reads the lines of an NDJSON file: records of ours, payloads of the four systems, payloads in a description of their
/// request.
///
/// A reader is for one file, line by line: it counts how often a payload without time has come.
///
/// Source: "Activity Stream New Tab pings of Firefox for iOS (Ping Centre)", section 7.
public struct PayloadLineReader: Sendable {
    /// A payload of 512 levels stands one level deep in its record, or in its request.
    static let policy = JSONReadingPolicy(depthLimit: 513)

    private let source: Source
    private var line = JSONDocument()
    private var body = JSONDocument()
    private var pings = PingReader()
    private var repeats = TimelessRepeats()

    private enum Keys {
        static let body: JSONKey = "body"
        static let labels: JSONKey = "labels"
        static let method: JSONKey = "method"
        static let payload: JSONKey = "payload"
        static let status: JSONKey = "status"
        static let time: JSONKey = "time"
        static let timestamp: JSONKey = "timestamp"
        static let url: JSONKey = "url"
    }

    /// Makes a reader for one file.
    /// - Parameters:
    ///   - capture: the label of the capture.
    ///   - path: the file's path in it.
    public init(capture: String, path: String) {
        source = Source(capture: capture, path: path, store: .ndjsonLine, index: 0)
    }

    /// Reads a line.
    /// - Parameters:
    ///   - bytes: the line without its end.
    ///   - index: its place in the file, from 0.
    public mutating func read(_ bytes: [UInt8], index: Int) -> LogFinding {
        do throws(LineFault) {
            return try finding(in: bytes, index: index)
        } catch {
            return .reject("\(error.code) line \(index + 1): \(error.reason)")
        }
    }

    private mutating func finding(in bytes: [UInt8], index: Int) throws(LineFault) -> LogFinding {
        do throws(JSONError) {
            try line.read(bytes, policy: Self.policy)
        } catch {
            throw .invalid("\(error)")
        }
        defer { line.reset() }
        var source = source
        source.index = index
        switch LineShape(line) {
        case .record: return .upload(try record(bytes), status: nil)
        case .envelope: return try envelope(bytes, source)
        case .request: return try request(source)
        case .payload(let system):
            swap(&line, &body)
            return try upload(to: system, CapturedUpload(route: nil, time: nil, source: source))
        case nil: throw LineFault(code: "line_unknown", reason: "neither a record nor a payload that is documented")
        }
    }

    /// A record as it stands; one that another tool wrote anew is brought back into its canonical form.
    private mutating func record(_ bytes: [UInt8]) throws(LineFault) -> Record {
        var canonical = bytes
        if let labels = line.value(of: Keys.labels, in: line.root) {
            line.removeMember(withValue: labels, from: line.root)
        }
        if (try? Record(line: bytes, using: &body)) == nil { canonical = line.canonicalBytes(of: line.root) }
        defer { body.reset() }
        do throws(RecordError) {
            let record = try Record(line: canonical, using: &body)
            if let contradiction = record.contradiction { throw RecordError(contradiction) }
            return record
        } catch {
            throw .invalid("no record: \(error)")
        }
    }

    private mutating func envelope(_ bytes: [UInt8], _ source: Source) throws(LineFault) -> LogFinding {
        var extraction = Extraction()
        pings.readPingFile(
            bytes,
            at: MozillaPlace(capture: source.capture, path: source.path, store: source.store, namedType: ""),
            into: &extraction)
        guard var record = extraction.records.first else {
            throw .invalid(extraction.rejects.first?.reason ?? "no envelope")
        }
        record.source.index = source.index
        return .upload(record, status: nil)
    }

    private mutating func upload(to system: TelemetrySystem, _ upload: CapturedUpload) throws(LineFault) -> LogFinding {
        defer { body.reset() }
        do throws(BodyFault) {
            var record = try upload.record(of: system, in: &body)
            repeats.number(&record)
            return .upload(record, status: nil)
        } catch {
            switch error {
            case .foreign: return .other(.otherTopic)
            case .invalid(let reason): throw .invalid(reason)
            }
        }
    }
}

// MARK: - A payload in its request

extension PayloadLineReader {
    private mutating func request(_ source: Source) throws(LineFault) -> LogFinding {
        let route: UploadRoute
        do throws(UploadRoute.Refusal) {
            route = try UploadRoute(
                method: line.text(Keys.method, in: line.root), url: line.text(Keys.url, in: line.root) ?? "")
        } catch {
            return .other(error == .onyx ? .onyx : .unrelated)
        }
        let time = time
        guard try readBody(to: route.system) else { return .other(.leanplumSingleCall) }
        let finding = try upload(to: route.system, CapturedUpload(route: route, time: time, source: source))
        guard case .upload(var record, _) = finding, let value = line.value(of: Keys.status, in: line.root),
            line.kind(of: value) == .number
        else { return finding }
        let status = Int(line.string(of: value)) ?? 0
        record.takeAnswer(status)
        return .upload(record, status: status)
    }

    /// The time of the request: RFC 3339, or milliseconds since 1970.
    private var time: Timestamp? {
        guard let value = line.value(of: Keys.time, in: line.root) ?? line.value(of: Keys.timestamp, in: line.root)
        else { return nil }
        return switch line.kind(of: value) {
        case .string: Timestamp(started: line.string(of: value))
        case .number: Int64(line.string(of: value)).flatMap(Timestamp.init(milliseconds:))
        default: nil
        }
    }

    /// Reads the body of a request: an object, or text that holds one, or for Leanplum a form.
    /// - Returns: false if it is a call to Leanplum that is no `multi` call.
    private mutating func readBody(to system: TelemetrySystem) throws(LineFault) -> Bool {
        guard let value = line.value(of: Keys.body, in: line.root) ?? line.value(of: Keys.payload, in: line.root) else {
            throw .invalid("no body")
        }
        var bytes = line.kind(of: value) == .string ? line.bytes(of: value).copied() : line.canonicalBytes(of: value)
        if system == .leanplum, bytes.first != UInt8(ascii: "{") {
            guard let action = FormText.value(of: "action", in: bytes), action.elementsEqual("multi".utf8) else {
                return false
            }
            guard let data = FormText.value(of: "data", in: bytes) else { throw .invalid("the form has no data") }
            bytes = data
        }
        do throws(JSONError) {
            try body.read(bytes)
        } catch {
            throw .invalid("\(error.code.text) at byte \(error.offset) of the body")
        }
        return true
    }
}

/// Why a line makes no record.
private struct LineFault: Error {
    let code: String
    let reason: String

    static func invalid(_ reason: String) -> LineFault { LineFault(code: "line_invalid", reason: reason) }
}
