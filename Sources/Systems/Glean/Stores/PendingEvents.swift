import Bytes
import JSONText
import Synchronization
import Telemetry

/// The contents of a file of events that are not yet included in a ping.
///
/// Each line is a JSON object. The lines are parsed separately, so that an invalid line does not affect the others.
///
/// Source: "Mozilla Glean SDK on iOS: on-disk stores, normalized pings, upload", sections 6, 8.4 and 10.
struct PendingEventsFile {
    /// The events in the order of the file, as canonical JSON arrays of at most 500 events each.
    private(set) var batches: [[UInt8]] = []
    /// The number of events, including restart markers.
    private(set) var eventCount = 0
    /// The number of events that only mark a restart of the app.
    private(set) var restartMarkerCount = 0
    /// The lines that must be put into quarantine because they are not events.
    private(set) var rejects: [Reject] = []

    private var openBatch: [UInt8] = []
    private var openBatchCount = 0

    /// The maximum number of events in a record, as in a ping of the SDK.
    private static let maximumEventCount = 500

    /// Parses the contents of a file, and reads each line into `document` so that all lines share its memory.
    init(_ bytes: [UInt8], using document: inout JSONDocument) {
        defer { document.reset() }
        var lines = LineCursor(from: bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0)
        while let line = lines.next(in: bytes.span) {
            guard bytes[line.range].contains(where: { !$0.isBlank }) else { continue }
            readLine(line.range, of: bytes, isLast: !line.isTerminated, &document)
        }
        closeBatch()
    }

    /// Whether the file contains an event other than a restart marker.
    var hasEvents: Bool { eventCount > restartMarkerCount }

    private mutating func readLine(_ line: Range<Int>, of bytes: [UInt8], isLast: Bool, _ document: inout JSONDocument)
    {
        guard let end = try? document.readValue(in: bytes, range: line), end == line.upperBound,
            Self.isEvent(document)
        else {
            let reason = isLast ? "G52 event cut short" : "G51 not an event"
            return rejects.append(Reject(reason, offset: line.lowerBound, length: line.count))
        }
        eventCount += 1
        if Self.isRestartMarker(document) { restartMarkerCount += 1 }
        openBatch.append(UInt8(ascii: openBatch.isEmpty ? "[" : ","))
        openBatch += document.canonicalBytes(of: document.root)
        openBatchCount += 1
        if openBatchCount == Self.maximumEventCount { closeBatch() }
    }

    private mutating func closeBatch() {
        guard openBatchCount > 0 else { return }
        openBatch.append(UInt8(ascii: "]"))
        batches.append(openBatch)
        openBatch = []
        openBatchCount = 0
    }

    /// Returns whether the root of `document` has a timestamp, a category, a name, and only strings as extras.
    private static func isEvent(_ document: JSONDocument) -> Bool {
        let root = document.root
        guard let time = document.value(of: GleanKeys.timestamp, .number, in: root),
            GleanSchema.isDigits(document.bytes(of: time)),
            document.value(of: GleanKeys.category, .string, in: root) != nil,
            document.value(of: GleanKeys.name, .string, in: root) != nil
        else { return false }
        guard let extra = document.value(of: GleanKeys.extra, in: root), document.kind(of: extra) != .null else {
            return true
        }
        guard document.kind(of: extra) == .object else { return false }
        return (0..<document.memberCount(of: extra)).allSatisfy { index in
            document.kind(of: document.member(at: index, of: extra).value) == .string
        }
    }

    /// Returns whether the event in `document` only marks a restart of the app.
    private static func isRestartMarker(_ document: JSONDocument) -> Bool {
        document.string(forKey: GleanKeys.category, in: document.root) == "glean"
            && document.string(forKey: GleanKeys.name, in: document.root) == "restarted"
    }
}

/// The functions that create records of events that are not yet included in a ping, so that the events are available
/// for analysis.
///
/// The records are never uploaded, because the app will send the events itself.
///
/// Source: "Mozilla Glean SDK on iOS: on-disk stores, normalized pings, upload", section 8.4.
enum PendingEventRecords {
    /// Creates a record for each batch of events in `file`, or no records if it contains only restart markers.
    static func makeRecords(
        of file: PendingEventsFile, ofPing name: String, borrowed: BorrowedClientInfo?, source: Source
    )
        -> [Record]
    {
        guard file.hasEvents else { return [] }
        return file.batches.enumerated().map { number, events in
            var payload = CanonicalObject()
            if let borrowed { payload.set(GleanKeys.clientInfo, CanonicalText(borrowed.info)) }
            payload.set(GleanKeys.events, CanonicalText(events))
            var recordSource = source
            recordSource.index = number
            let client = borrowed?.client
            return Record(
                system: .glean, type: name, id: UUIDText.ofPendingEvents(events, type: name, client: client),
                client: client, app: borrowed?.app, payload: payload.bytes, source: recordSource,
                notes: borrowed.map { ["G57 client_info borrowed from \($0.origin)"] } ?? [], held: [.pendingEvents])
        }
    }
}

/// The client information that is added to pending events, copied from a stored ping or from `client_id.txt`.
///
/// Source: "Mozilla Glean SDK on iOS: on-disk stores, normalized pings, upload", section 8.4.
struct BorrowedClientInfo {
    /// The client id, or `nil` if the ping contains none.
    let client: String?
    let app: App?
    /// The `client_info` section as canonical JSON.
    let info: [UInt8]
    /// The ping or file that the information was copied from, as named in notes.
    let origin: String

    /// Copies the client information of `ping`, or returns `nil` if it has no `client_info` section.
    init?(_ ping: Record) {
        guard let document = try? JSONDocument(ping.payload),
            let info = document.value(of: GleanKeys.clientInfo, in: document.root)
        else { return nil }
        client = ping.client
        app = ping.app
        self.info = document.canonicalBytes(of: info)
        origin = "ping \(ping.id)"
    }

    /// Reads the client id from the contents of `client_id.txt`.
    ///
    /// Returns `nil` if the id is invalid or is the placeholder id.
    init?(clientFile bytes: [UInt8]) {
        let text = String(decoding: bytes.prefix(100), as: UTF8.self)
        let trimmed = text.drop { $0.isWhitespace }.prefix { !$0.isWhitespace }
        guard let digits = GleanName.digits(ofUUID: String(trimmed).utf8.span) else { return nil }
        let id = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(decoding: digits[$0], as: UTF8.self) }
            .joined(separator: "-")
        guard !GleanName.isPlaceholder(id) else { return nil }
        client = id
        app = nil
        info = ([GleanKeys.clientID: id] as CanonicalObject).bytes
        origin = "client_id.txt"
    }
}

/// The newest pings of a data directory, from which pending events copy the client information.
///
/// Only the positions of the files are stored, because a ping can be large.
///
/// Source: "Mozilla Glean SDK on iOS: on-disk stores, normalized pings, upload", section 8.4.
struct NewestPings: Sendable {
    private struct Candidate: Sendable {
        let position: GleanDirectory.FilePosition
        let time: Timestamp
    }

    private var newestWithClient: Candidate?
    private var newestByName: [CapturedText: Candidate] = [:]

    /// Adds `ping` if it has a time, and replaces a ping that has the same or an earlier time.
    mutating func add(_ ping: Record, at position: GleanDirectory.FilePosition) {
        guard let time = ping.time else { return }
        func isNewer(than other: Candidate?) -> Bool { other.map { $0.time <= time } ?? true }
        let candidate = Candidate(position: position, time: time)
        if let client = ping.client, !GleanName.isPlaceholder(client), isNewer(than: newestWithClient) {
            newestWithClient = candidate
        }
        if isNewer(than: newestByName[ping.type]) { newestByName[ping.type] = candidate }
    }

    /// Returns the position of the stored ping that provides the client information for pending events of the ping
    /// `name`.
    ///
    /// This is the newest ping with the same name. For the built-in `events` ping, which always has a client id, the
    /// newest ping of any name that has a client id is used. Returns `nil` if there is no such ping.
    func position(forEventsOf name: String) -> GleanDirectory.FilePosition? {
        (name == GleanName.events ? newestWithClient : newestByName[name])?.position
    }
}

/// The newest pings of a directory, which all scans of the directory share.
final class SharedNewestPings: Sendable {
    private let cachedPings = Mutex<NewestPings?>(nil)

    /// Returns the newest pings.
    ///
    /// The first call determines them with `find`, while calls on other threads wait.
    func newestPings(_ find: () -> NewestPings) -> NewestPings {
        cachedPings.withLock { cachedPings in
            let newestPings = cachedPings ?? find()
            cachedPings = newestPings
            return newestPings
        }
    }
}
