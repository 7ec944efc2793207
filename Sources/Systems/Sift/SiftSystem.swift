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
    /// What stays, and what becomes a pseudonym.
    public let pseudonyms: PseudonymFormat? = SiftPseudonyms.format
    /// What the SDK's own event types mean.
    public let vocabulary: (any Vocabulary)? = SiftVocabulary()
    /// What its events and fields are in tables.
    public let rows: (any RowFormat)? = SiftRows()

    /// Makes the system, which has no state.
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
