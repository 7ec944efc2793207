import Telemetry

/// Sift's SDK, whose queues of events wait in an app's caches until they go to the server as list requests.
///
/// Source: "Sift iOS SDK: on-disk store, list request".
public struct SiftSystem: TelemetrySystem {
    /// The name of the system in records and options.
    public let name = SystemName.sift
    /// The SDK's folder, which is one store of an uploader and queues.
    public let stores: StoreFormat? = SiftStores.format
    /// List requests in logs.
    public let requests = SiftRequests.format
    /// Uploads of list requests.
    public let uploads = SiftUploads.format
    /// The rules by which records get pseudonyms.
    public let pseudonyms: PseudonymFormat? = SiftPseudonyms.format
    /// The meanings of the event types of the SDK itself.
    public let vocabulary: (any Vocabulary)? = SiftVocabulary()
    /// How payloads become rows of tables.
    public let rows: (any RowFormat)? = SiftRows()

    /// Creates the system.
    public init() {}
}

extension SystemName {
    /// Sift's SDK.
    public static let sift = SystemName("sift")
}

extension StoreKind {
    /// The batches that the SDK took out of its queues.
    public static let siftUploader = StoreKind("sift-uploader")
    /// A queue of events.
    public static let siftQueue = StoreKind("sift-queue")
}
