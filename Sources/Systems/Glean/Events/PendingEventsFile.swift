import Bytes
import JSONText
import Telemetry

/// The events of a file of events that are in no ping yet: one JSON object a line, in the order of the file.
///
/// Each line stands for itself, so that a broken one costs nothing but itself; the SDK stops at the first that is not UTF-8.
///
/// Source: "Mozilla Glean SDK on iOS: on-disk stores, normalized pings, upload", sections 6, 8.4 and 10.
struct PendingEventsFile {
    /// Runs of at most 500 events, each a canonical JSON array.
    private(set) var runs: [[UInt8]] = []
    /// How many events there are, markers of restarts among them.
    private(set) var count = 0
    /// How many of them are such markers.
    private(set) var markers = 0
    /// The lines that are no events.
    private(set) var rejects: [Reject] = []

    private var open: [UInt8] = []
    private var openCount = 0

    /// The most events of a record: as many as the SDK puts into a ping.
    private static let mostEvents = 500

    /// Reads a file. `document` is reused as memory.
    init(_ bytes: [UInt8], using document: inout JSONDocument) {
        defer { document.reset() }
        var lines = LineCursor(from: bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0)
        while let line = lines.next(in: bytes.span) {
            guard bytes[line.range].contains(where: { !$0.isBlank }) else { continue }
            read(line.range, of: bytes, isLast: !line.isTerminated, &document)
        }
        close()
    }

    /// Whether an app recorded any of the events.
    var hasEvents: Bool { count > markers }

    private mutating func read(
        _ line: Range<Int>, of bytes: [UInt8], isLast: Bool, _ document: inout JSONDocument
    ) {
        guard let end = try? document.readValue(in: bytes, range: line), end == line.upperBound,
            Self.isEvent(document)
        else {
            let reason = isLast ? "G52 event cut short" : "G51 not an event"
            return rejects.append(Reject(reason, offset: line.lowerBound, length: line.count))
        }
        count += 1
        if Self.isMarker(document) { markers += 1 }
        open.append(UInt8(ascii: open.isEmpty ? "[" : ","))
        open += document.canonicalBytes(of: document.root)
        openCount += 1
        if openCount == Self.mostEvents { close() }
    }

    private mutating func close() {
        guard openCount > 0 else { return }
        open.append(UInt8(ascii: "]"))
        runs.append(open)
        open = []
        openCount = 0
    }

    /// Whether a value is an event: a timestamp from 0, category and name, and extras that are texts.
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
        for place in 0..<document.memberCount(of: extra)
        where document.kind(of: document.member(at: place, of: extra).value) != .string {
            return false
        }
        return true
    }

    /// Whether an event only tells that the app was started again.
    private static func isMarker(_ document: JSONDocument) -> Bool {
        document.string(at: GleanKeys.category, in: document.root) == "glean"
            && document.string(at: GleanKeys.name, in: document.root) == "restarted"
    }
}
