import Telemetry

/// The telemetry of apps that are built on Mozilla's `telemetry-ios`: Focus, Klar, Firefox for iOS, WebXR Viewer, Lockwise.
///
/// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload".
public struct MozillaSystem: TelemetrySystem {
    /// `mozilla`.
    public let name = SystemName.mozilla
    /// Ping files, ping arrays, pending events, preferences and values.
    public let stores: StoreFormat? = MozillaStores.format
    /// The form of captured pings.
    public let requests = MozillaRequests.format
    /// How pings are uploaded.
    public let uploads = MozillaUploads.format
    /// The rules by which records get pseudonyms.
    public let pseudonyms: PseudonymFormat? = MozillaPseudonyms.format
    /// The meanings of the events of Focus, Klar and WebXR Viewer.
    public let vocabulary: (any Vocabulary)? = MozillaVocabulary()
    /// How payloads become rows of tables.
    public let rows: (any RowFormat)? = MozillaRows()

    /// Creates the system.
    public init() {}
}

extension SystemName {
    /// The name of Mozilla's telemetry.
    public static let mozilla = SystemName("mozilla")
}

extension StoreKind {
    /// A file of a ping folder: a ping in its envelope (S2, S3).
    public static let mozillaPingFile = StoreKind("mozilla-ping-file")
    /// Pings in one array (S1), or measurements by date (S0).
    public static let mozillaPingArray = StoreKind("mozilla-ping-array")
    /// Events that are in no ping yet (PE).
    public static let mozillaPendingEvents = StoreKind("mozilla-pending-events")
    /// Counters and events in the preferences of an app (V2, V3), or of an app group.
    public static let mozillaDefaults = StoreKind("mozilla-defaults")
    /// Counters and events in a file of their own (V1).
    public static let mozillaValues = StoreKind("mozilla-values")
}
