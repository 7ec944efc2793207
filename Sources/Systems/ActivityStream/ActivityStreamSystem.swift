import Bytes
import JSONText
import Telemetry

/// The New Tab pings of Firefox for iOS, which were sent to Ping Centre.
///
/// The pings were never stored, so they are found only in request logs.
///
/// Source: "Activity Stream New Tab pings of Firefox for iOS (Ping Centre)".
public struct ActivityStreamSystem: TelemetrySystem {
    /// The name of the system, `activity-stream`.
    public let name = SystemName.activityStream
    /// An empty list, because pings are sent immediately and are never stored.
    ///
    /// Source: "Activity Stream New Tab pings of Firefox for iOS (Ping Centre)", section 1.
    public let stores: [any StoreFormat] = []
    /// The format of captured pings and batches of pings in request logs.
    public let requests: any RequestFormat = ActivityStreamRequests()
    /// The format of uploads to Ping Centre.
    public let uploads: any UploadFormat = ActivityStreamUploads()
    /// The rules for replacing identifiers with pseudonyms.
    public let pseudonyms: PseudonymFormat? = PseudonymFormat([
        (["every topic"], ActivityStreamFields.allFields.pseudonyms)
    ])
    /// The meanings of the events of the New Tab page.
    public let vocabulary: (any Vocabulary)? = ActivityStreamVocabulary()
    /// The conversion of payloads to table rows.
    public let rows: (any RowFormat)? = ActivityStreamRows()
    /// The value `nil`, because pings are not numbered.
    public let sequence: SequenceFormat? = nil
    /// The value `nil`, because Mozilla's pipeline does not receive the uploads.
    public let liveTables: (any LiveTableFormat)? = nil
    /// The year 2016, in which the predecessor of these pings was developed.
    public let firstYear = 2016

    /// Creates the system.
    public init() {}
}

extension SystemName {
    /// The name of Activity Stream.
    public static let activityStream = SystemName("activity-stream")
}

/// The meanings of the events of Activity Stream's pings.
///
/// Source: "Activity Stream New Tab pings of Firefox for iOS (Ping Centre)", sections 4.6, 5.1 and 5.2.
struct ActivityStreamVocabulary: Vocabulary {
    /// The meaning of a session ping.
    private static let sessionMeaning = "New Tab panel shown for a while"

    static let eventMeanings: [CapturedText: String] = [
        "ADD_BOOKMARK": "Bookmark added",
        "CLICK": "Item tapped",
        "DELETE": "Highlight deleted from history",
        "DISMISS": "Item dismissed",
        "MISSING_FAVICON": "No icon for the site",
        "MISSING_METADATA_IMAGE": "No image for the site",
        "NEW_PRIVATE_TAB": "Item opened in a new private tab",
        "NEW_TAB": "Item opened in a new tab",
        "REMOVE": "Top site removed",
        "REMOVE_BOOKMARK": "Bookmark removed",
        "SHARE": "Share sheet closed",
    ]

    /// Returns the meaning of the ping in `payload`, or of each ping if `payload` is a batch.
    func labels(of payload: JSONDocument, in record: RecordSummary, nested: inout JSONDocument) -> [String?] {
        let pings = payload.activityStreamPings
        guard record.type == ActivityStreamTopic.events.rawValue else { return pings.map { _ in Self.sessionMeaning } }
        return pings.map { ping in payload.text(ActivityStreamKeys.event, in: ping).flatMap { Self.eventMeanings[$0] } }
    }
}

/// The conversion of single pings and batches of pings to rows of the event table.
///
/// Source: "Exports", section 1; "Activity Stream New Tab pings of Firefox for iOS (Ping Centre)", section 4.
private struct ActivityStreamRows: RowFormat {
    let tables: [Table] = []

    /// The name of a session ping, which contains no name.
    private static let sessionName = "session"

    func addRows(
        of document: JSONDocument, type: String, to rows: inout RecordRows, nested: inout JSONDocument
    ) -> DeviceCells {
        let pings = document.activityStreamPings
        for ping in pings {
            var cells = Self.cells(of: ping, in: document, &rows.buffer)
            if cells.name == .null, type == ActivityStreamTopic.sessions.rawValue {
                cells.name = rows.buffer.keep(Self.sessionName)
            }
            rows.add(cells)
        }
        let locale = pings.lazy.compactMap { document.value(of: ActivityStreamKeys.locale, in: $0) }.first
        return DeviceCells(locale: rows.buffer.keep(string: locale, of: document))
    }

    private static func cells(of ping: JSONNode, in document: JSONDocument, _ buffer: inout RowBuffer) -> EventCells {
        var cells = EventCells()
        let keys = [ActivityStreamKeys.event, ActivityStreamKeys.source, ActivityStreamKeys.page]
        var columns = keys.map { document.value(of: $0, .string, in: ping) }
        cells.name = buffer.keep(string: columns[0], of: document)
        cells.object = buffer.keep(string: columns[1], of: document)
        cells.value = buffer.keep(string: columns[2], of: document)
        if let duration = document.value(of: ActivityStreamKeys.sessionDuration, in: ping) {
            cells.sessionDuration = buffer.keep(integer: duration, of: document)
            if cells.sessionDuration != .null { columns.append(duration) }
        }
        cells.extra = buffer.keep(membersOf: ping, of: document) { !columns.contains($0.value) }
        return cells
    }
}

extension JSONDocument {
    /// The pings of a batch, or the root of the document if the document is not a batch or the batch contains no pings.
    fileprivate var activityStreamPings: [JSONNode] {
        let batch = array(ActivityStreamKeys.payloads, in: root).map { elements(of: $0) } ?? []
        return batch.isEmpty ? [root] : batch
    }
}
