import Bytes
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

/// The rules of Mozilla's pipeline for pings of telemetry-ios.
///
/// Source: "BigQuery rows", section 8.
private struct MozillaLiveTables: LiveTableFormat {
    private static let unwantedTypes: Set<CapturedText> = [
        "frecency-update", "modules", "pioneer-study", "saved-session",
    ]
    /// The document types that are accepted only from Firefox.
    private static let firefoxTypes: Set<CapturedText> = ["event", "main"]
    private static let unwantedApp: CapturedText = "FirefoxOS"
    private static let firefox: CapturedText = "Firefox"

    func rejection(of message: PipelineMessage, payload: JSONDocument) -> String? {
        let app = message.appName.map { CapturedText($0) }
        if app == Self.unwantedApp { return "unwanted: \(Self.unwantedApp)" }
        guard CapturedText(message.namespace) == PipelineMessage.telemetry else { return nil }
        let isUnwanted =
            Self.unwantedTypes.contains(message.documentType)
            || Self.firefoxTypes.contains(message.documentType) && app != Self.firefox
        return isUnwanted ? "unwanted: \(message.documentType)" : nil
    }

    /// Removes the account id from events of versions of Lockbox that sent it by mistake.
    func redact(_ payload: inout JSONDocument, of message: PipelineMessage) {
        guard CapturedText(message.namespace) == PipelineMessage.telemetry,
            CapturedText(message.documentType) == "focus-event", message.appName.map({ CapturedText($0) }) == "Lockbox",
            message.appVersion.map(Self.sendsAccountID) == true,
            let events = payload.array(MeasurementKeys.events, in: payload.root)
        else { return }
        for event in payload.elements(of: events) {
            let parts = payload.elements(of: event)
            guard parts.count > 5, let account = payload.value(of: "fxauid", in: parts[5]) else { continue }
            payload.replaceWithNull(account)
        }
    }

    /// Returns whether a version is from 1.0 to 1.6, or 1.7.0.
    private static func sendsAccountID(_ version: String) -> Bool {
        let bytes = Array(version.utf8)
        if bytes.elementsEqual("1.7.0".utf8) { return true }
        guard bytes.count >= 3, bytes.starts(with: "1.".utf8), bytes[2].isDigit, bytes[2] <= UInt8(ascii: "6") else {
            return false
        }
        return bytes[3...].allSatisfy { $0.isDigit || $0 == UInt8(ascii: ".") }
    }
}
