import Bytes
import JSONText
import Telemetry

/// A reader that creates records from ping files, and reuses its memory for the next file.
///
/// Source: "Mozilla Glean SDK on iOS: on-disk stores, normalized pings, upload", sections 4, 8.1 to 8.3 and 10.
struct GleanPingReader {
    /// The folder that a ping file is stored in.
    enum Folder: Sendable {
        /// The folder `pending_pings`, which contains pings for upload.
        case pendingPings
        /// The folder `deletion_request`, which contains deletion requests for upload.
        case deletionRequests
        /// The folder `tmp`, in which the SDK writes pings before it queues them.
        case unfinishedPings
    }

    struct File {
        let name: [UInt8]
        let folder: Folder
        let source: Source
    }

    private var body = JSONDocument()
    private var metadataDocument = JSONDocument()

    /// The maximum size of a file that is parsed.
    ///
    /// The SDK discards pings whose compressed body exceeds 1 MiB.
    static let sizeLimit = FileSizeLimit(bytes: 8 << 20, code: "G10")
    /// The size of a body, in bytes, above which its record gets a note (case G48).
    private static let maximumBodySizeWithoutNote = 1 << 20

    /// Returns the record of the ping in a file, or throws an error if the file does not contain a ping.
    mutating func record(of bytes: [UInt8], _ file: File) throws(PingFileError) -> Record {
        defer {
            body.reset()
            metadataDocument.reset()
        }
        let lines = try PingLines(bytes)
        try readBody(lines, bytes)
        let metadata = if let line = lines.metadata { readMetadata(line, bytes) } else { PingMetadata() }
        return makeRecord(lines, metadata, bytes, file)
    }

    private mutating func readBody(_ lines: PingLines, _ bytes: [UInt8]) throws(PingFileError) {
        do throws(JSONError) {
            let end = try body.readValue(in: bytes, range: lines.body)
            guard end == lines.body.upperBound else { throw JSONError(.trailingBytes, at: end) }
        } catch {
            let reason =
                switch error.code {
                case .duplicateKey: "G6 duplicate key at byte \(error.offset)"
                case .tooDeep: "G7 nested too deep"
                default: "G4 body is not JSON: \(error)"
                }
            throw PingFileError(reason, line: lines.bodyLine)
        }
        guard body.kind(of: body.root) == .object else {
            throw PingFileError("G5 body is not an object", line: lines.bodyLine)
        }
    }

    /// Parses the third line, or returns `nil` if it is not valid metadata (case G31).
    private mutating func readMetadata(_ line: Range<Int>, _ bytes: [UInt8]) -> PingMetadata? {
        guard let end = try? metadataDocument.readValue(in: bytes, range: line), end == line.upperBound else {
            return nil
        }
        return PingMetadata(metadataDocument)
    }

    private func makeRecord(
        _ lines: PingLines, _ thirdLine: PingMetadata?, _ bytes: [UInt8], _ file: File
    ) -> Record {
        let first = bytes[lines.path].span
        let path = GleanPath(first)
        func text(_ part: Range<Int>) -> String { String(readingUTF8: first.extracting(part)) }
        let metadata = thirdLine ?? PingMetadata()
        let facts = PingBodyFacts(of: body, needsInfo: metadata.requiresInfoSections)
        let tags = PingTags(metadata.headers)
        var record = Record(
            system: .glean, type: path.map { text($0.ping) } ?? Self.type(named: metadata.pingName),
            id: path.map { text($0.documentID) } ?? String(decoding: file.name, as: UTF8.self), client: facts.client,
            time: facts.time, app: facts.app(id: path.map { text($0.namespace) }),
            target: path.map { _ in Target(path: String(readingUTF8: first)) },
            payload: body.canonicalBytes(of: body.root), source: file.source, notes: lines.notes)
        record.notes += Self.notes(on: file, record, firstLine: first)
        if thirdLine == nil { record.notes.append("G31 third line unreadable: what it asks for is not known") }
        record.notes += Self.notes(on: metadata, record, facts)
        tags.apply(to: &record)
        record.notes += facts.notes(onPingNamed: record.type)
        if record.payload.count > Self.maximumBodySizeWithoutNote {
            record.notes.append("G48 body of \(record.payload.count) bytes: more than 1 MiB")
        }
        // The holds are listed in the order of their codes.
        let holds: [Hold?] = [
            facts.capabilityHold(metadataCapabilities: metadata.capabilities),
            tags.rejectedTagNames.isEmpty ? nil : Hold("headers"),
            file.folder == .unfinishedPings ? Hold("incomplete") : nil, thirdLine == nil ? Hold("metadata") : nil,
            path == nil ? .noTarget : nil, facts.schemaHold,
        ]
        record.held = holds.compactMap(\.self)
        return record
    }

    /// Returns the record type of a ping without a valid path: `name`, or `unknown` if `name` is not a ping name.
    private static func type(named name: String?) -> String {
        name.flatMap { GleanName.isPingName($0.utf8.span) ? $0 : nil } ?? "unknown"
    }

    /// Returns notes about an invalid first line, and about a file name or a folder that does not match the ping.
    ///
    /// An unfinished ping always gets a note, and so does a file whose name is not a UUID.
    private static func notes(on file: File, _ record: Record, firstLine: Span<UInt8>) -> [String] {
        var notes: [String] = []
        let hasPath = record.target != nil
        if file.folder == .unfinishedPings {
            notes.append("G21 found where the SDK writes pings: perhaps never queued")
        }
        if let digits = GleanName.digits(ofUUID: file.name.span) {
            if hasPath, GleanName.digits(ofUUID: record.id.utf8.span) != digits {
                notes.append("G15 the file has the name of another document")
            }
        } else {
            notes.append("G16 the name of the file is no UUID")
        }
        let isRequest = record.type == GleanName.deletionRequest
        switch file.folder {
        case .pendingPings where isRequest: notes.append("G24 a deletion request among pending pings")
        case .deletionRequests where !isRequest: notes.append("G24 a ping among deletion requests")
        case .pendingPings, .deletionRequests, .unfinishedPings: break
        }
        if !hasPath {
            notes.append("G26 the first line is not in the grammar of upload paths: \(Target.excerpt(of: firstLine))")
        }
        return notes
    }

    /// Returns notes about unknown keys in the third line, and about metadata that does not match the ping.
    private static func notes(on metadata: PingMetadata, _ record: Record, _ facts: PingBodyFacts) -> [String] {
        var notes: [String] = []
        if record.target != nil, let name = metadata.pingName, name != record.type {
            notes.append("G29 the third line has the name of another ping")
        }
        if !metadata.unknownKeys.isEmpty {
            notes.append("G32 unknown keys in the third line: \(NameList.text(metadata.unknownKeys))")
        }
        if !metadata.requiresInfoSections, facts.hasInfoSection {
            notes.append("G39 sections of information, which the third line denies")
        }
        return notes
    }
}

// MARK: - Lines

/// The byte ranges of the lines of a ping file: the upload path, the body and the metadata of the SDK.
///
/// Source: "Mozilla Glean SDK on iOS: on-disk stores, normalized pings, upload", sections 4 and 10.
struct PingLines {
    /// The range of the first line, without its line ending.
    let path: Range<Int>
    /// The range of the second line, without its line ending.
    let body: Range<Int>
    /// The range to quarantine if the body is invalid, which is the second line without its line feed.
    let bodyLine: Range<Int>
    /// The range of the third line without its line ending, or `nil` if the line is missing or blank.
    let metadata: Range<Int>?
    private(set) var notes: [String] = []

    /// Finds the lines, or throws an error if the second line is missing or blank, or one of the first two is not text.
    init(_ bytes: [UInt8]) throws(PingFileError) {
        guard !bytes.isEmpty else { throw PingFileError("G1 empty file") }
        let hasByteOrderMark = bytes.starts(with: [0xEF, 0xBB, 0xBF])
        let start = hasByteOrderMark ? 3 : 0
        var lines = LineCursor(from: start)
        let end = bytes.count..<bytes.count
        let first = lines.next(in: bytes.span)?.range ?? end
        let second = lines.next(in: bytes.span)?.range ?? end
        try Self.checkText(bytes[start..<second.upperBound])
        guard first.upperBound + 1 < bytes.count else { throw PingFileError("G2 no body: no second line") }
        path = Self.withoutCarriageReturn(first, in: bytes)
        body = Self.withoutCarriageReturn(second, in: bytes)
        bodyLine = second
        guard bytes[body].contains(where: { !$0.isBlank }) else {
            throw PingFileError("G3 blank body", offset: second.lowerBound, length: second.count)
        }
        let third = lines.next(in: bytes.span)?.range ?? end
        let trimmed = Self.withoutCarriageReturn(third, in: bytes)
        metadata = bytes[trimmed].contains { !$0.isBlank } ? trimmed : nil
        if hasByteOrderMark { notes.append("G12 byte order mark left out") }
        if path != first || body != second || trimmed != third { notes.append("G11 lines end in CR LF") }
        if third.upperBound < bytes.count, bytes[third.upperBound...].contains(where: { !$0.isBlank }) {
            notes.append("G13 text behind the third line ignored")
        }
    }

    private static func checkText(_ bytes: ArraySlice<UInt8>) throws(PingFileError) {
        guard !bytes.span.contains(0) else { throw PingFileError("G8 NUL bytes") }
        guard (try? UTF8Span(validating: bytes.span)) != nil else { throw PingFileError("G9 not UTF-8") }
    }

    private static func withoutCarriageReturn(_ line: Range<Int>, in bytes: [UInt8]) -> Range<Int> {
        guard let last = bytes[line].last, last == UInt8(ascii: "\r") else { return line }
        return line.lowerBound..<line.upperBound - 1
    }
}

/// The error for a file that does not contain a valid ping.
struct PingFileError: Error {
    /// The reason for rejecting the file, and the span of the file to quarantine.
    let reject: Reject

    init(_ reason: String, offset: Int? = nil, length: Int? = nil) {
        reject = Reject(reason, offset: offset, length: length)
    }

    /// Creates an error for an invalid body in the range `line`.
    init(_ reason: String, line: Range<Int>) {
        self.init(reason, offset: line.lowerBound, length: line.count)
    }
}

// MARK: - Metadata

/// The metadata that the SDK needs to send a ping, from the third line of the ping file.
///
/// Source: "Mozilla Glean SDK on iOS: on-disk stores, normalized pings, upload", section 4.
struct PingMetadata {
    /// The header fields to send, as stored.
    private(set) var headers: [HeaderField] = []
    /// Whether the body must have the sections `client_info` and `ping_info`.
    private(set) var requiresInfoSections = true
    private(set) var pingName: String?
    /// The capabilities that a program must have to upload the ping.
    private(set) var capabilities: [String] = []
    /// The keys that no known SDK version writes.
    private(set) var unknownKeys: [String] = []

    private static let headers: JSONKey = "headers"
    private static let infoSections: JSONKey = "body_has_info_sections"
    private static let pingName: JSONKey = "ping_name"
    private static let capabilities: JSONKey = "uploader_capabilities"
    private static let knownKeys = [headers, infoSections, pingName, capabilities]

    /// Creates the metadata of a file without a third line.
    init() {}

    /// Reads the metadata in a parsed third line.
    ///
    /// Like the SDK, returns `nil` if the line is not an object, or if the value of a known key has the wrong type.
    init?(_ document: JSONDocument) {
        let root = document.root
        guard document.kind(of: root) == .object else { return nil }
        for member in document.members(of: root) {
            guard let key = Self.knownKeys.first(where: { document.bytes(of: member.key).equals($0.utf8.span) }) else {
                unknownKeys.append(document.string(of: member.key))
                continue
            }
            // `null` has the same meaning as a missing key (case G33).
            guard document.kind(of: member.value) != .null else { continue }
            guard read(member.value, of: key, in: document) else { return nil }
        }
    }

    /// Reads the value of a known key, or returns `false` if the value has the wrong type.
    private mutating func read(_ value: JSONNode, of key: JSONKey, in document: JSONDocument) -> Bool {
        switch key {
        case Self.headers: return readHeaders(value, in: document)
        case Self.infoSections:
            requiresInfoSections = document.kind(of: value) == .true
            return requiresInfoSections || document.kind(of: value) == .false
        case Self.pingName:
            guard document.kind(of: value) == .string else { return false }
            pingName = document.string(of: value)
            return true
        default:
            guard let names = document.strings(of: value) else { return false }
            capabilities = names
            return true
        }
    }

    private mutating func readHeaders(_ value: JSONNode, in document: JSONDocument) -> Bool {
        guard document.kind(of: value) == .object else { return false }
        for member in document.members(of: value) {
            guard document.kind(of: member.value) == .string else { return false }
            headers.append(HeaderField(document.string(of: member.key), document.string(of: member.value)))
        }
        return true
    }
}

extension JSONDocument {
    /// Returns the elements of an array of strings, or `nil` if `array` is anything else.
    func strings(of array: JSONNode) -> [String]? {
        guard kind(of: array) == .array else { return nil }
        var strings: [String] = []
        var element = firstElement(of: array)
        while let current = element {
            guard kind(of: current) == .string else { return nil }
            strings.append(string(of: current))
            element = self.element(after: current, of: array)
        }
        return strings
    }
}
