import Telemetry

/// The New Tab pings of Firefox for iOS, which went to Ping Centre. They were never stored: they are known from request
/// logs alone.
///
/// Source: "Activity Stream New Tab pings of Firefox for iOS (Ping Centre)".
public struct ActivityStreamSystem: TelemetrySystem {
    /// What records and options call it.
    public let name = SystemName.activityStream
    /// None. A ping is posted at once, and is lost if that fails.
    ///
    /// Source: "Activity Stream New Tab pings of Firefox for iOS (Ping Centre)", section 1.
    public let stores: StoreFormat? = nil
    /// Pings and batches of pings in request logs.
    public let requests = ActivityStreamRequests.format
    /// Uploads to Ping Centre.
    public let uploads = ActivityStreamUploads.format
    /// What stays, and what becomes a pseudonym.
    public let pseudonyms: PseudonymFormat? = ActivityStreamPseudonyms.format
    /// What the events of the New Tab page mean.
    public let vocabulary: (any Vocabulary)? = ActivityStreamVocabulary()
    /// What its events and fields are in tables.
    public let rows: (any RowFormat)? = ActivityStreamRows()

    /// Makes the system, which has no state.
    public init() {}
}

extension SystemName {
    /// The New Tab pings of Firefox for iOS.
    public static let activityStream = SystemName("activity-stream")
}
