import Telemetry

/// The New Tab pings of Firefox for iOS, which went to Ping Centre. They were never stored: they are known from request
/// logs alone.
///
/// Source: "Activity Stream New Tab pings of Firefox for iOS (Ping Centre)".
public struct ActivityStreamSystem: TelemetrySystem {
    /// `activity-stream`.
    public let name = SystemName.activityStream
    /// None. A ping is posted at once, and is lost if that fails.
    ///
    /// Source: "Activity Stream New Tab pings of Firefox for iOS (Ping Centre)", section 1.
    public let stores: StoreFormat? = nil
    /// Pings and batches of pings in request logs.
    public let requests = ActivityStreamRequests.format
    /// Uploads to Ping Centre.
    public let uploads = ActivityStreamUploads.format
    /// The rules by which records get pseudonyms.
    public let pseudonyms: PseudonymFormat? = PseudonymFormat(
        tables: [(["every topic"], ActivityStreamForm.ping.pseudonyms)], path: nil)
    /// The meanings of the events of the New Tab page.
    public let vocabulary: (any Vocabulary)? = ActivityStreamVocabulary()
    /// How payloads become rows of tables.
    public let rows: (any RowFormat)? = ActivityStreamRows()

    /// Creates the system.
    public init() {}
}

extension SystemName {
    /// The New Tab pings of Firefox for iOS.
    public static let activityStream = SystemName("activity-stream")
}
