import JSONText
import Telemetry

/// The telemetry of apps that use Mozilla's `telemetry-ios`, such as Focus, Klar, Firefox, WebXR Viewer and Lockwise.
///
/// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload".
public struct MozillaSystem: TelemetrySystem {
    /// The name of the system, `mozilla`.
    public let name = SystemName.mozilla
    /// The formats of the stores: ping files, ping arrays, pending events, preferences and values.
    public let stores: [any StoreFormat] = [MozillaStores()]
    /// The format of captured pings.
    public let requests: any RequestFormat = MozillaRequests()
    /// The format of ping uploads.
    public let uploads: any UploadFormat = MozillaUploads()
    /// The rules for replacing identifiers with pseudonyms.
    public let pseudonyms: PseudonymFormat? = MozillaUploads.pseudonyms
    /// The meanings of the events of Firefox, Focus, Klar and WebXR Viewer.
    public let vocabulary: (any Vocabulary)? = MozillaVocabulary()
    /// The conversion of payloads to table rows.
    public let rows: (any RowFormat)? = MozillaRows()
    /// The numbering of pings, which is separate for each type.
    ///
    /// It starts at 1, or at 0 in core pings of Firefox before 10.0.
    ///
    /// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", sections 3.1 and 5.5.
    public let sequence: SequenceFormat? = SequenceFormat(
        start: 0...1, sharedClients: [ClientID(MeasurementKeys.placeholderClient)],
        memberOfEveryType: .init([MeasurementKeys.sequenceNumber]))
    /// The rules of the pipeline for pings of telemetry-ios.
    public let liveTables: (any LiveTableFormat)? = MozillaLiveTables()
    /// The year 2015, in which Firefox for Android sent the first core pings.
    public let firstYear = 2015

    /// Creates the system.
    public init() {}
}

extension SystemName {
    /// The name of the telemetry of Mozilla's `telemetry-ios`.
    public static let mozilla = SystemName("mozilla")
}

extension StoreKind {
    /// A file that contains one ping and its envelope.
    public static let mozillaPingFile = StoreKind("mozilla-ping-file")
    /// A file that contains an array of pings, or an object with measurements by date.
    public static let mozillaPingArray = StoreKind("mozilla-ping-array")
    /// A file of events that are not yet included in a ping.
    public static let mozillaPendingEvents = StoreKind("mozilla-pending-events")
    /// Preferences of an app or an app group that contain counters or events.
    public static let mozillaDefaults = StoreKind("mozilla-defaults")
    /// A JSON file that contains counters and events.
    public static let mozillaValues = StoreKind("mozilla-values")
}
