import Telemetry

/// The telemetry of Adjust's SDK, which queues a package for each session, event and choice of the user.
///
/// Source: "Adjust iOS SDK: the package queue on disk, records, upload".
public struct AdjustSystem: TelemetrySystem {
    /// The name of the system, `adjust`.
    public let name = SystemName.adjust
    /// The format of the queue, and of the files that determine whether the SDK sends the queue.
    public let stores: StoreFormat? = AdjustStores.format
    /// The format of captured requests, which are forms.
    public let requests = AdjustRequests.format
    /// The format of uploads, most of which are held by default.
    public let uploads = AdjustUploads.format
    /// The rules for replacing identifiers in payloads of all types with pseudonyms.
    public let pseudonyms: PseudonymFormat? = PseudonymFormat(
        tables: [(["every type"], AdjustParameters.fields.pseudonyms)], path: nil)
    /// The meanings of the events of Focus and Klar, and of packages that are not events.
    public let vocabulary: (any Vocabulary)? = AdjustVocabulary()
    /// The conversion of payloads to table rows.
    public let rows: (any RowFormat)? = AdjustRows()
    /// The numbering of sessions and events.
    public let sequence: SequenceFormat? = AdjustParameters.sequence

    /// Creates the system.
    public init() {}
}

extension SystemName {
    /// The name of the telemetry of Adjust's SDK.
    public static let adjust = SystemName("adjust")
}

extension StoreKind {
    /// The queue of packages.
    public static let adjustQueue = StoreKind("adjust-queue")
    /// A file of the SDK that contains facts, but no records.
    public static let adjustState = StoreKind("adjust-state")
}
