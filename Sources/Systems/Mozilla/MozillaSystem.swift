import Telemetry

/// The telemetry of apps that use Mozilla's `telemetry-ios`, such as Focus, Klar, Firefox, WebXR Viewer and Lockwise.
///
/// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload".
public struct MozillaSystem: TelemetrySystem {
    /// The name of the system, `mozilla`.
    public let name = SystemName.mozilla
    /// The formats of ping files, ping arrays, pending events, preferences and values.
    public let stores: StoreFormat? = MozillaStores.format
    /// The format of captured pings.
    public let requests = MozillaRequests.format
    /// The format of uploads.
    public let uploads = MozillaUploads.format
    /// The rules for replacing identifiers with pseudonyms.
    public let pseudonyms: PseudonymFormat? = MozillaPseudonyms.format
    /// The meanings of the events of Focus, Klar and WebXR Viewer.
    public let vocabulary: (any Vocabulary)? = MozillaVocabulary()
    /// The conversion of payloads to table rows.
    public let rows: (any RowFormat)? = MozillaRows()

    /// Creates the system.
    public init() {}
}

extension SystemName {
    /// The name of the telemetry of Mozilla's `telemetry-ios`.
    public static let mozilla = SystemName("mozilla")
}

extension StoreKind {
    /// A file of a ping folder, which contains one ping in its envelope (formats S2 and S3).
    public static let mozillaPingFile = StoreKind("mozilla-ping-file")
    /// A file that contains an array of pings (format S1) or measurements by date (format S0).
    public static let mozillaPingArray = StoreKind("mozilla-ping-array")
    /// A file of events that are not in a ping yet (format PE).
    public static let mozillaPendingEvents = StoreKind("mozilla-pending-events")
    /// Counters and events in the preferences of an app (formats V2 and V3) or of an app group.
    public static let mozillaDefaults = StoreKind("mozilla-defaults")
    /// A file of counters and events (format V1).
    public static let mozillaValues = StoreKind("mozilla-values")
}
