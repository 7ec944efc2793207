import Bytes
import JSONText
import Telemetry

/// The telemetry of Sift's SDK, which stores queues of events in an app's caches and uploads them as list requests.
///
/// Source: "Sift iOS SDK: on-disk store, list request".
public struct SiftSystem: TelemetrySystem {
    /// The name of the system, `sift`.
    public let name = SystemName.sift
    /// The format of the SDK's folder, which is one store with an uploader and queues.
    public let stores: [any StoreFormat] = [SiftStores()]
    /// The format of captured list requests.
    public let requests: any RequestFormat = SiftRequests()
    /// The format of uploads, which are list requests.
    public let uploads: any UploadFormat = SiftUploads()
    /// The rules for replacing identifiers with pseudonyms.
    public let pseudonyms: PseudonymFormat? = SiftPseudonyms.format
    /// The meanings of the event types that the SDK itself defines.
    public let vocabulary: (any Vocabulary)? = SiftVocabulary()
    /// The conversion of payloads to table rows.
    public let rows: (any RowFormat)? = SiftRows()
    /// The value `nil`, because list requests are not numbered.
    public let sequence: SequenceFormat? = nil
    /// The value `nil`, because Mozilla's pipeline does not receive the uploads.
    public let liveTables: (any LiveTableFormat)? = nil
    /// The year 2015, in which the prototype of the SDK was developed.
    public let firstYear = 2015

    /// Creates the system.
    public init() {}
}

extension SystemName {
    /// The name of the telemetry of Sift's SDK.
    public static let sift = SystemName("sift")
}

extension StoreKind {
    /// The uploader file, which contains batches of events that the SDK removed from its queues.
    public static let siftUploader = StoreKind("sift-uploader")
    /// A file that contains a queue of events.
    public static let siftQueue = StoreKind("sift-queue")
}

/// The meanings of the event types that the SDK itself defines.
///
/// All other event types are defined by apps, so their meanings are unknown.
///
/// Source: "Sift iOS SDK: on-disk store, list request", sections 5.1 to 5.4.
private struct SiftVocabulary: Vocabulary {
    private static let meanings: [CapturedText: String] = [
        "UIApplicationDidBecomeActiveNotification": "App came to the front",
        "UIApplicationDidEnterBackgroundNotification": "App went to the background",
        "ios_app_state": "State of the app and its sensors",
        "ios_device_properties": "Properties of the device",
    ]

    func labels(of payload: JSONDocument, in record: RecordSummary, nested: inout JSONDocument) -> [String?] {
        guard let events = payload.array(SiftRequestKeys.data, in: payload.root) else { return [] }
        return payload.elements(of: events).map { event in
            payload.siftEventType(of: event).flatMap { Self.meanings[$0] }
        }
    }
}
