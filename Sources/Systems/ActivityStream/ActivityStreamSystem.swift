import Telemetry

/// The New Tab pings of Firefox for iOS, which were sent to Ping Centre.
///
/// The pings were never stored, so they are found only in request logs.
///
/// Source: "Activity Stream New Tab pings of Firefox for iOS (Ping Centre)".
public struct ActivityStreamSystem: TelemetrySystem {
    /// The name of the system, `activity-stream`.
    public let name = SystemName.activityStream
    /// The value `nil`, because pings are sent immediately and are never stored.
    ///
    /// Source: "Activity Stream New Tab pings of Firefox for iOS (Ping Centre)", section 1.
    public let stores: StoreFormat? = nil
    /// The format of captured pings and batches of pings in request logs.
    public let requests = ActivityStreamRequests.format
    /// The format of uploads to Ping Centre.
    public let uploads = ActivityStreamUploads.format
    /// The rules for replacing identifiers with pseudonyms.
    public let pseudonyms: PseudonymFormat? = PseudonymFormat(
        tables: [(["every topic"], ActivityStreamFields.allFields.pseudonyms)], path: nil)
    /// The meanings of the events of the New Tab page.
    public let vocabulary: (any Vocabulary)? = ActivityStreamVocabulary()
    /// The conversion of payloads to table rows.
    public let rows: (any RowFormat)? = ActivityStreamRows()
    /// The value `nil`, because pings are not numbered.
    public let sequence: SequenceFormat? = nil

    /// Creates the system.
    public init() {}
}

extension SystemName {
    /// The name of Activity Stream.
    public static let activityStream = SystemName("activity-stream")
}
