import Bytes
import JSONText
import Telemetry

/// A reader that creates records from ping files and ping arrays, and reuses its memory for the next file.
///
/// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", sections 2.1 to 2.5.
struct PingReader: StoreReader {
    /// The format of a file with pings.
    enum Format: Sendable {
        /// A file of a ping folder (formats S2 and S3).
        ///
        /// It contains an envelope, an array of envelopes (case P3), or measurements without an envelope (case P4).
        case pingFile
        /// An array of envelopes (format S1), which is read in the order of the timestamps.
        case array
        /// An object whose keys are dates and whose values are measurements (format S0).
        ///
        /// The dates have the form `2017-04-25 21:14:03 +0000`.
        case datedMeasurements
    }

    /// A ping in the current file.
    private struct Ping {
        /// Whether the ping has an envelope, is an element of an array, or consists of measurements alone.
        enum Form {
            case envelope, element, measurements
            /// Measurements with the given date.
            case dated(String)
        }

        let node: JSONNode
        let index: Int
        let form: Form
    }

    let format: Format
    /// The ping type at the end of the folder or file name, or an empty string if the name contains none.
    let pingTypeFromName: String
    /// The bundle id of the app container, if it is known.
    let applicationID: String?
    private var document = JSONDocument()
    /// The pings of the current file that were not read yet.
    private var pings: ArraySlice<Ping> = []
    private var hasByteOrderMark = false
    private var payloadBuffer = TextBuffer()
    private var pathReader = SubmitPathReader()
    /// The client id of the last ping, which is reused because most pings have the same client id.
    private var lastClient = ""

    init(_ format: Format, pingTypeFromName: String = "", applicationID: String? = nil) {
        self.format = format
        self.pingTypeFromName = pingTypeFromName
        self.applicationID = applicationID
    }

    mutating func read(
        _ bytes: [UInt8], ofFile index: Int, from source: Source, into output: inout ScanOutput
    ) throws -> Bool {
        if pings.isEmpty {
            do throws(PingError) {
                try open(bytes)
            } catch {
                try output.reject(error.reject)
                return false
            }
        }
        // The document must release `bytes`, so that the caller can reuse their memory.
        defer { if pings.isEmpty { document.reset() } }
        while !output.isFull, let ping = pings.popFirst() {
            var record: Record
            do throws(PingError) {
                record = try self.record(of: ping, from: source)
            } catch {
                try output.reject(error.reject)
                continue
            }
            if hasByteOrderMark { record.notes.append("P22 byte order mark left out") }
            try output.add(consume record)
        }
        return !pings.isEmpty
    }

    /// Whether the current file contains more.
    var isOpen: Bool { !pings.isEmpty }

    /// Returns the record of the only ping in `bytes`.
    ///
    /// - Throws: ``PingError`` if `bytes` are not a file with a ping.
    mutating func record(in bytes: [UInt8], from source: Source) throws(PingError) -> Record {
        defer { close() }
        try open(bytes)
        guard let ping = pings.first else { throw PingError("no envelope") }
        return try record(of: ping, from: source)
    }

    /// Returns the last record in `bytes` that satisfies `condition`, or `nil` if there is none.
    mutating func lastRecord(in bytes: [UInt8], from source: Source, where condition: (Record) -> Bool) -> Record? {
        defer { close() }
        // A file that cannot be parsed is reported when its store is read.
        guard (try? open(bytes)) != nil else { return nil }
        while let ping = pings.popLast() {
            if let record = try? record(of: ping, from: source), condition(record) { return record }
        }
        return nil
    }

    private mutating func close() {
        pings = []
        document.reset()
    }

    /// Parses a file, and finds its pings.
    private mutating func open(_ bytes: [UInt8]) throws(PingError) {
        hasByteOrderMark = bytes.starts(with: ByteOrderMark.utf8)
        do throws(JSONError) {
            try document.read(bytes.blankingByteOrderMark)
        } catch {
            throw PingError(Self.reject(for: error, in: bytes))
        }
        let (root, kind) = (document.root, document.kind(of: document.root))
        switch format {
        case .pingFile where kind == .array:
            pings = document.elements(of: root).enumerated().map { Ping(node: $1, index: $0, form: .element) }[...]
        case .pingFile:
            let isBare = kind == .object && isWithoutEnvelope(root)
            pings = [Ping(node: root, index: 0, form: isBare ? .measurements : .envelope)]
        case .array:
            guard kind == .array else { throw PingError("P5 root is no array") }
            pings = pingsByTime(in: root)
        case .datedMeasurements:
            guard kind == .object else { throw PingError("S0 root is no object") }
            pings =
                (0..<document.memberCount(of: root)).map { position in
                    let member = document.member(at: position, of: root)
                    return Ping(node: member.value, index: position, form: .dated(document.string(of: member.key)))
                }[...]
        }
    }

    private func pingsByTime(in array: JSONNode) -> ArraySlice<Ping> {
        let elements = document.elements(of: array).enumerated().map { index, element in
            (ping: Ping(node: element, index: index, form: .element), time: document.timestamp(ofEnvelope: element))
        }
        let ordered = elements.sorted { left, right in
            switch (left.time, right.time) {
            case (let left?, let right?) where left != right: left < right
            case (nil, _?): true
            case (_?, nil): false
            default: left.ping.index < right.ping.index
            }
        }
        return ordered.map(\.ping)[...]
    }

    private mutating func record(of ping: Ping, from source: Source) throws(PingError) -> Record {
        let source = source.record(at: ping.index)
        switch ping.form {
        case .envelope: return try record(ofEnvelope: ping.node, note: nil, from: source)
        case .element:
            let note = format == .pingFile ? "P3 array of pings in a ping folder" : nil
            do throws(PingError) {
                return try record(ofEnvelope: ping.node, note: note, from: source)
            } catch {
                throw PingError(reject(ofElement: ping.node, at: ping.index, error))
            }
        case .measurements:
            // The base class of the SDK uses the same name for pings without a type.
            let type = pingTypeFromName.isEmpty ? "unknown" : pingTypeFromName
            return recordWithoutEnvelope(
                ping.node, type: type, time: nil, note: "P4 measurements without an envelope", from: source)
        case .dated(let date):
            guard document.kind(of: ping.node) == .object else { throw PingError("S0 \(date): no measurements") }
            let hasEvents = document.value(of: MeasurementKeys.events, in: ping.node) != nil
            return recordWithoutEnvelope(
                ping.node, type: hasEvents ? "focus-event" : "core", time: Timestamp(describedDate: date),
                note: "S0 measurements without document id and path", from: source)
        }
    }

    private static func reject(for error: JSONError, in bytes: [UInt8]) -> Reject {
        if let message = ByteOrderMark.message(forJSON: bytes) { return Reject("P22 \(message)") }
        return switch error.code {
        case .empty: Reject("P1 empty file")
        case .unexpectedEnd: Reject("P2 JSON cut short", offset: error.offset)
        case .invalidUTF8 where bytes[error.offset...].isTruncatedCharacter,
            .unpairedSurrogate where bytes[error.offset...].isTruncatedSurrogatePair:
            Reject("P2 JSON cut short", offset: bytes.count)
        case .duplicateKey: Reject("P12 duplicate key at byte \(error.offset)")
        default: Reject("json \(error.code.text)", offset: error.offset)
        }
    }

    private func reject(ofElement element: JSONNode, at index: Int, _ error: PingError) -> Reject {
        var span = document.sourceRange(of: element)
        // The range of a string must include its quotation marks, because they are part of the element.
        if let text = span, document.kind(of: element) == .string {
            span = text.lowerBound - 1..<text.upperBound + 1
        }
        return Reject(
            "\(error.reject.reason)\(Self.elementWords)\(index))", offset: span?.lowerBound, length: span?.count)
    }

    /// The words before the index of a rejected element.
    private static let elementWords = " (element "

    /// Returns the index of the element of an array that `reject` concerns, or `nil` if it concerns something else.
    static func index(ofRejectedElement reject: Reject) -> Int? {
        guard let words = reject.reason.utf8.firstRange(of: elementWords.utf8) else { return nil }
        let digits = reject.reason.utf8[words.upperBound...].prefix { $0.isDigit }
        // The entry can be forged, but an element is not before its index.
        return Int(String(decoding: digits, as: UTF8.self)).flatMap { $0 <= reject.offset ?? 0 ? $0 : nil }
    }
}

// MARK: - One envelope

/// The error for a file or a value that is not a ping.
struct PingError: Error {
    let reject: Reject

    init(_ reject: Reject) { self.reject = reject }
    init(_ reason: String) { reject = Reject(reason) }
}

extension PingReader {
    private mutating func record(
        ofEnvelope envelope: JSONNode, note: String?, from source: Source
    ) throws(PingError) -> Record {
        guard document.kind(of: envelope) == .object else { throw PingError("P5 no envelope") }
        var findings = Findings()
        if let note { findings.note(note) }
        let documentID = try member(EnvelopeKeys.documentID, at: 0, .string, of: envelope)
        let measurements = try member(EnvelopeKeys.measurements, at: 1, .object, of: envelope)
        let pingType = try member(EnvelopeKeys.pingType, at: 2, .string, of: envelope)
        let time = try envelopeTime(of: envelope, findings: &findings)
        let uploadPath = try member(EnvelopeKeys.uploadPath, at: 4, .string, of: envelope)
        noteUnknownKeys(of: envelope, findings: &findings)

        let type = document.string(of: pingType)
        let path = pathReader.read(uploadPath, of: document)
        noteDifferences(type, documentID, path, uploadPath, findings: &findings)
        if !document.bytes(of: documentID).isUUID {
            findings.note("P9 documentId is no UUID: the decoder rejects it")
            findings.fault("documentId is no UUID")
        }
        if path == nil {
            let stored = Target.excerpt(of: document.bytes(of: uploadPath))
            findings.note("no-target uploadPath is not in the grammar of /submit/telemetry/: \(stored)")
        }
        var holds = PingNormalizer.normalize(measurements, type: type, in: &document, findings: &findings)
        // Measurements of an undocumented type have no faults, but their envelope can have some.
        if let hold = findings.hold, holds.first?.code != hold.code { holds.insert(hold, at: 0) }
        if path == nil { holds.append(.noTarget) }
        return Record(
            system: .mozilla, type: type, id: document.string(of: documentID),
            client: client(of: measurements), time: time?.timestamp,
            app: pathReader.app(id: applicationID) ?? App(id: applicationID),
            target: path == nil ? nil : Target(path: document.string(of: uploadPath)),
            payload: payload(of: measurements), source: source, notes: findings.notes, held: holds)
    }

    /// Returns the value for `key`, or throws an error if the value is missing or not of the kind `kind` (case P5).
    private func member(
        _ key: JSONKey, at position: Int, _ kind: JSONKind, of envelope: JSONNode
    ) throws(PingError) -> JSONNode {
        guard let value = document.value(of: key, in: envelope, expectedAt: position) else {
            throw PingError("P5 \(key) missing")
        }
        guard document.kind(of: value) == kind else { throw PingError("P5 \(key) of another type") }
        return value
    }

    /// Returns the timestamp of an envelope, which may be a decimal number in a string (case P7).
    ///
    /// The result is never `nil`, because an invalid timestamp throws an error.
    private func envelopeTime(of envelope: JSONNode, findings: inout Findings) throws(PingError) -> DecimalTime? {
        let value = document.value(of: EnvelopeKeys.timestamp, in: envelope, expectedAt: 3)
        if let value, document.kind(of: value) == .string {
            guard let time = DecimalTime(plain: document.bytes(of: value)) else {
                throw PingError("P7 timestamp is text and no plain decimal")
            }
            findings.note("P7 timestamp: text read as number")
            return time
        }
        return DecimalTime(document.bytes(of: try member(EnvelopeKeys.timestamp, at: 3, .number, of: envelope)))
    }

    private func noteUnknownKeys(of envelope: JSONNode, findings: inout Findings) {
        guard document.count(of: envelope) > EnvelopeKeys.all.count else { return }
        for member in document.members(of: envelope) {
            let key = document.bytes(of: member.key)
            if EnvelopeKeys.all.contains(where: { key.equals($0.utf8.span) }) { continue }
            findings.note("P13 \(document.string(of: member.key)): unknown envelope key left out")
        }
    }

    /// Adds notes if the ping type contradicts the store name, or the upload path contradicts the envelope (case P14).
    private func noteDifferences(
        _ type: String, _ documentID: JSONNode, _ path: SubmitPath?, _ uploadPath: JSONNode,
        findings: inout Findings
    ) {
        if pingTypeFromName != type, !pingTypeFromName.isEmpty {
            findings.note("P14 pingType \(type) in a store named for \(pingTypeFromName)")
        }
        guard let path else { return }
        let text = document.bytes(of: uploadPath)
        if !text.extracting(path.type).equals(type) {
            findings.note("P14 pingType \(type), uploadPath names \(String(readingUTF8: text.extracting(path.type)))")
        }
        if !text.extracting(path.documentID).equals(document.bytes(of: documentID)) {
            findings.note("P14 uploadPath names another document id")
        }
    }

    private mutating func payload(of measurements: JSONNode) -> [UInt8] {
        payloadBuffer.removeAll()
        document.write(measurements, to: &payloadBuffer)
        return Array(payloadBuffer[0..<payloadBuffer.count])
    }

    private mutating func client(of measurements: JSONNode) -> String? {
        guard let client = document.value(of: MeasurementKeys.clientID, .string, in: measurements),
            !document.bytes(of: client).isEmpty
        else { return nil }
        if !document.bytes(of: client).equals(lastClient) { lastClient = document.string(of: client) }
        return lastClient
    }
}

// MARK: - A body without its envelope

extension PingReader {
    /// Returns whether `root` contains measurements without an envelope, as in some exports (case P4).
    private func isWithoutEnvelope(_ root: JSONNode) -> Bool {
        document.value(of: MeasurementKeys.version, in: root) != nil
            && document.value(of: MeasurementKeys.clientID, in: root) != nil
            && !EnvelopeKeys.all.contains { document.value(of: $0, in: root) != nil }
    }

    /// Creates the record of measurements that have no envelope, and therefore no upload path and no document id.
    private mutating func recordWithoutEnvelope(
        _ measurements: JSONNode, type: String, time: Timestamp?, note: String, from source: Source
    ) -> Record {
        var findings = Findings()
        findings.note(note)
        let holds = PingNormalizer.normalize(measurements, type: type, in: &document, findings: &findings)
        let payload = payload(of: measurements)
        return Record(
            system: .mozilla, type: type, id: PayloadHash.id(of: payload),
            client: client(of: measurements), time: time, app: App(id: applicationID), payload: payload,
            source: source, notes: findings.notes, held: holds + [.noTarget])
    }
}

// MARK: - Times and truncated text

extension JSONDocument {
    /// The timestamp of the first or only envelope in a ping file, or `nil` if the envelope contains none.
    var timeOfPingFile: DecimalTime? { timestamp(ofEnvelope: firstElement(of: root) ?? root) }

    /// Returns the timestamp of `envelope`, or `nil` if it is neither a number nor a string with a decimal number.
    fileprivate func timestamp(ofEnvelope envelope: JSONNode) -> DecimalTime? {
        guard let value = value(of: EnvelopeKeys.timestamp, in: envelope) else { return nil }
        return switch kind(of: value) {
        case .number: DecimalTime(bytes(of: value))
        case .string: DecimalTime(plain: bytes(of: value))
        default: nil
        }
    }
}

extension DecimalTime {
    /// Parses a decimal number that may have a minus sign and a fraction, but no exponent.
    ///
    /// Returns `nil` for any other string.
    init?(plain text: Span<UInt8>) {
        for index in text.indices where !text[index].isDigit {
            let byte = text[index]
            guard byte == UInt8(ascii: ".") || (index == 0 && byte == UInt8(ascii: "-")) else { return nil }
        }
        guard !text.isEmpty, text[text.count - 1].isDigit else { return nil }
        self.init(text)
    }
}

extension Timestamp {
    /// Parses Foundation's description of a date, such as `2017-04-25 21:14:03 +0000`.
    ///
    /// Returns `nil` for any other string.
    init?(describedDate text: String) {
        guard text.hasSuffix(" +0000") else { return nil }
        self.init(rfc3339: text.dropLast(6) + "Z")
    }
}

extension ArraySlice<UInt8> {
    /// Whether the bytes are the start of an incomplete UTF-8 character.
    ///
    /// The bytes must be invalid as UTF-8, because a complete character is not ruled out.
    var isTruncatedCharacter: Bool {
        guard let first, (0xC2...0xF4).contains(first), count < 4 else { return false }
        return dropFirst().allSatisfy { $0 & 0xC0 == 0x80 }
    }

    /// Whether the bytes, which start with an unpaired escaped surrogate, end before the other half of the pair.
    fileprivate var isTruncatedSurrogatePair: Bool {
        count == 6 || (count == 7 && last == UInt8(ascii: "\\"))
    }
}

// MARK: - Keys

/// The keys of a ping envelope.
enum EnvelopeKeys {
    static let documentID: JSONKey = "documentId"
    static let measurements: JSONKey = "measurements"
    static let pingType: JSONKey = "pingType"
    static let timestamp: JSONKey = "timestamp"
    static let uploadPath: JSONKey = "uploadPath"

    static let all = [documentID, measurements, pingType, timestamp, uploadPath]
}

/// The keys of the measurements in a ping that code outside the schema reads.
enum MeasurementKeys {
    static let clientID: JSONKey = "clientId"
    static let created: JSONKey = "created"
    static let events: JSONKey = "events"
    static let processStart: JSONKey = "processStartTimestamp"
    static let searches: JSONKey = "searches"
    static let sequenceNumber: JSONKey = "seq"
    static let timeZone: JSONKey = "tz"
    static let version: JSONKey = "v"

    /// The client id that other Mozilla clients store in place of a discarded client id.
    static let placeholderClient = "c0ffeec0-ffee-c0ff-eec0-ffeec0ffeec0"
}
