import Telemetry

/// The telemetry of apps that are built on Mozilla's Glean SDK: Firefox, Focus, Klar, Mozilla VPN, Lockwise.
///
/// Source: "Mozilla Glean SDK on iOS: on-disk stores, normalized pings, upload".
public struct GleanSystem: TelemetrySystem {
    /// `glean`.
    public let name = SystemName.glean
    /// Data directories with ping files and pending events.
    public let stores: StoreFormat? = GleanStores.format
    /// The form of captured pings.
    public let requests = GleanRequests.format
    /// How pings are uploaded.
    public let uploads = GleanUploads.format
    /// The rules by which records get pseudonyms.
    public let pseudonyms: PseudonymFormat? = GleanPseudonyms.format
    /// The meanings of the events of the SDK itself.
    public let vocabulary: (any Vocabulary)? = GleanVocabulary()
    /// How payloads become rows of tables.
    public let rows: (any RowFormat)? = GleanRows()
    /// The code of the case in the format document.
    public let repeatedIDCode = "G23"

    /// Creates the system.
    public init() {}
}

extension SystemName {
    /// The name of the telemetry of Mozilla's Glean SDK.
    public static let glean = SystemName("glean")
}

extension StoreKind {
    /// A ping that waits to be sent, in a file of its own.
    public static let gleanPingFile = StoreKind("glean-ping-file")
    /// Events that are in no ping yet.
    public static let gleanPendingEvents = StoreKind("glean-pending-events")
}
