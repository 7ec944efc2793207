import Bytes
import Files
import JSONText
import Telemetry

/// The format of ping uploads.
///
/// The measurements are sent unchanged to the path that the app stored with the ping.
///
/// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", sections 8.1, 8.2 and 8.6.
struct MozillaUploads: UploadFormat {
    /// The host that apps send pings to.
    static let host = "incoming.telemetry.mozilla.org"
    /// The rules for payloads.
    ///
    /// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", sections 5 and 6.
    static let pseudonyms = PseudonymFormat([
        (["core"], CorePing.fields.pseudonyms),
        (["focus-event", "mobile-event"], EventPing.mobileFields.pseudonyms),
    ])

    let endpoint = "https://\(host)"
    /// Any 2xx status completes an upload, as in the apps.
    ///
    /// For a request in a log, only status 200 proves the delivery, because another 2xx status may come from a proxy. If
    /// the ping was delivered nevertheless, sending it again is harmless, because the server recognizes the document id.
    let deliveredStatuses = 200...299

    func isTargetPath(_ path: String) -> Bool { SubmitPath(path.utf8.span) != nil }

    func content(of payload: [UInt8], credential: Credential, now: Timestamp) -> RequestContent {
        RequestContent(type: "application/json; charset=utf-8", body: payload)
    }

    func path(of target: Target, replacingIDs pseudonym: (_ value: String, PseudonymClass) -> String) -> String? {
        let path = target.path.utf8.span
        guard let parts = SubmitPath(path) else { return nil }
        func text(_ range: Range<Int>) -> String { String(readingUTF8: path.extracting(range)) }
        let type = text(parts.type)
        let shownType = Self.pseudonyms.table(ofType: type) == nil ? pseudonym(type, .type) : type
        let facts: [AppProperty] = [.name, .version, .channel, .version]
        let shown = zip(facts, parts.appFactRanges).map { $0.shown(text($1), pseudonym) ?? AppProperty.unknown }
        let start = text(0..<parts.documentID.lowerBound) + pseudonym(text(parts.documentID), .document)
        return ([start, shownType] + shown).joined(separator: "/") + text(parts.query(in: path))
    }

    func isPath(_ text: String, ofID id: String, type: String) -> Bool {
        let path = text.utf8.span
        guard let parts = SubmitPath(path) else { return false }
        return path.extracting(parts.documentID).equals(id) && path.extracting(parts.type).equals(type)
    }
}

/// An upload path of the form `/submit/telemetry/<document id>/<type>/<app>/<version>/<channel>/<build>`.
///
/// The path may have a query `v=<number>`. Spaces and non-ASCII letters in the path are percent-encoded only when the
/// ping is sent (case P19).
///
/// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", sections 8.1 and 8.7.
struct SubmitPath {
    /// The byte ranges of the six parts in the path.
    private let parts: InlineArray<6, Range<Int>>

    private static let prefix = Array("/submit/telemetry/".utf8)
    private static let partCount = 6

    /// Parses `path`, or returns `nil` if it does not match the grammar.
    init?(_ path: Span<UInt8>) {
        guard path.starts(with: Self.prefix.span), Self.containsOnlySafeBytes(path) else { return nil }
        var parts = InlineArray<6, Range<Int>>(repeating: 0..<0)
        var count = 0
        var start = Self.prefix.count
        var end = start
        while end < path.count, path[end] != UInt8(ascii: "?") {
            if path[end] == UInt8(ascii: "/") {
                guard count < Self.partCount - 1 else { return nil }
                parts[count] = start..<end
                count += 1
                start = end + 1
            }
            end += 1
        }
        parts[count] = start..<end
        guard count == Self.partCount - 1, Self.isVersionQuery(path.extracting(end...)) else { return nil }
        for part in parts.indices where Self.isEmptyOrDots(path.extracting(parts[part])) { return nil }
        self.parts = parts
    }

    var documentID: Range<Int> { parts[0] }
    var type: Range<Int> { parts[1] }
    /// The ranges of the app's name, version, channel and build number in the path.
    var appFactRanges: [Range<Int>] { (2..<Self.partCount).map { parts[$0] } }
    /// Returns the range of the query including its question mark, or an empty range if there is no query.
    func query(in path: Span<UInt8>) -> Range<Int> { parts[Self.partCount - 1].upperBound..<path.count }

    /// Returns the app that the path describes, with the bundle id `id`.
    ///
    /// The result is never `nil`, because each path contains the name of an app.
    func app(in path: Span<UInt8>, id: String?) -> App? {
        func text(_ part: Int) -> String { String(readingUTF8: path.extracting(parts[part])) }
        return App(id: id, name: text(2), version: text(3), channel: text(4), build: text(5))
    }

    /// Returns whether a path is free of bytes that could end the request line or change the meaning of the path.
    private static func containsOnlySafeBytes(_ path: Span<UInt8>) -> Bool {
        for index in path.indices {
            switch path[index] {
            case ..<0x20, 0x7F, UInt8(ascii: "\\"), UInt8(ascii: "#"):
                return false
            case UInt8(ascii: "%"):
                guard index + 2 < path.count, let high = path[index + 1].hexadecimalValue,
                    let low = path[index + 2].hexadecimalValue, !isForbiddenWhenEncoded(high << 4 | low)
                else { return false }
            default: break
            }
        }
        return true
    }

    /// Returns whether `byte` must not occur in a path in percent-encoded form.
    ///
    /// A server that decodes such a byte could read a different path.
    private static func isForbiddenWhenEncoded(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == 0x7F || byte.isOne(of: "#./?\\")
    }

    private static func isVersionQuery(_ query: Span<UInt8>) -> Bool {
        if query.isEmpty { return true }
        guard query.count > 3, query.extracting(..<3).equals("?v=") else { return false }
        return query.extracting(3...).allSatisfy(\.isDigit)
    }

    private static func isEmptyOrDots(_ part: Span<UInt8>) -> Bool {
        part.isEmpty || part.equals(".") || part.equals("..")
    }
}

/// A parser for upload paths that reuses its last result if only the document id differs, as in most stores.
struct SubmitPathReader: Sendable {
    private var lastPathBytes: [UInt8] = []
    private var lastPath: SubmitPath?
    private var lastApp: App?

    /// Parses the path in the string `node`, or returns `nil` if it does not match the grammar.
    mutating func read(_ node: JSONNode, of document: JSONDocument) -> SubmitPath? {
        let other = document.bytes(of: node)
        if let lastPath, differsOnlyInID(other, lastPath) { return lastPath }
        lastPath = SubmitPath(other)
        lastApp = nil
        lastPathBytes = other.copied()
        return lastPath
    }

    /// Returns the app in the last path, or `nil` if the path did not match the grammar.
    mutating func app(id: String?) -> App? {
        if let lastApp, lastApp.id.map({ CapturedText($0) }) == id.map({ CapturedText($0) }) { return lastApp }
        lastApp = lastPath?.app(in: lastPathBytes.span, id: id)
        return lastApp
    }

    private func differsOnlyInID(_ other: Span<UInt8>, _ path: SubmitPath) -> Bool {
        let id = path.documentID
        return other.count == lastPathBytes.count
            && other.extracting(..<id.lowerBound).equals(lastPathBytes.span.extracting(..<id.lowerBound))
            && other.extracting(id.upperBound...).equals(lastPathBytes.span.extracting(id.upperBound...))
            && other.extracting(id).isUUID
    }
}

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
        if line.has(EnvelopeKeys.documentID, EnvelopeKeys.measurements, EnvelopeKeys.uploadPath, in: line.root) {
            return .stored(Self.record(ofStored:source:))
        }
        // Measurements without an envelope are also a valid ping file (case P4).
        let isPing = line.has(MeasurementKeys.clientID, MeasurementKeys.version, in: line.root)
        return isPing ? .payload(isStoredToo: true) : nil
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
        let eventType = document.has(MeasurementKeys.processStart, in: root) ? "mobile-event" : "focus-event"
        let type = document.has(MeasurementKeys.events, in: root) ? eventType : "core"
        findings.note("P4 measurements without an envelope; type \(type) inferred from their fields")
        return type
    }
}
