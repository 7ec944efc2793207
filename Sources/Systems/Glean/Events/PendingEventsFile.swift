import Bytes
import JSONText
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
    static func isEvent(_ document: JSONDocument) -> Bool {
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
