import Bytes
import JSONText
import Telemetry

/// The telemetry of Adjust's SDK, which queues a package for each session, event and choice of the user.
///
/// Source: "Adjust iOS SDK: the package queue on disk, records, upload".
public struct AdjustSystem: TelemetrySystem {
    /// The name of the system, `adjust`.
    public let name = SystemName.adjust
    /// The format of the queue, and of the files that determine whether the SDK sends the queue.
    public let stores: [any StoreFormat] = [AdjustStores()]
    /// The format of captured requests, which are forms.
    public let requests: any RequestFormat = AdjustRequests()
    /// The format of uploads, most of which are held by default.
    public let uploads: any UploadFormat = AdjustUploads()
    /// The rules for replacing identifiers in payloads of all types with pseudonyms.
    public let pseudonyms: PseudonymFormat? = PseudonymFormat([
        (["every type"], AdjustParameters.fields.pseudonyms)
    ])
    /// The meanings of the events of Focus and Klar, and of packages that are not events.
    public let vocabulary: (any Vocabulary)? = AdjustVocabulary()
    /// The conversion of payloads to table rows.
    public let rows: (any RowFormat)? = AdjustRows()
    /// The numbering of sessions and events.
    public let sequence: SequenceFormat? = AdjustParameters.sequence
    /// The value `nil`, because Mozilla's pipeline does not receive the uploads.
    public let liveTables: (any LiveTableFormat)? = nil
    /// The year 2013, in which version 2.0 of the SDK was published.
    public let firstYear = 2013

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

/// The documented meanings of packages, each of which is one event.
///
/// Source: "Adjust iOS SDK: the package queue on disk, records, upload", section 12.
private struct AdjustVocabulary: Vocabulary {
    private static let types = [
        AdjustType.session: "App session", AdjustType.deletionRequest: "Device asked to be forgotten",
        "info": "SDK information (push token or tracking permission)",
    ]

    func labels(of payload: JSONDocument, in record: RecordSummary, nested: inout JSONDocument) -> [String?] {
        guard let token = payload.text(AdjustParameters.eventToken, in: payload.root) else {
            return [Self.types[record.type]]
        }
        return [FocusTokens.meanings[token]]
    }
}

/// The tokens of the events of Focus 1.1 to 3.2 and of Klar.
///
/// Source: "Adjust iOS SDK: the package queue on disk, records, upload", section 12.
enum FocusTokens {
    /// The meanings of the events, by token.
    static let meanings: [CapturedText: String] = Dictionary(
        uniqueKeysWithValues: events.flatMap {
            [(CapturedText($0.focus), $0.meaning), (CapturedText($0.klar), $0.meaning)]
        })

    private static let events: [(focus: String, klar: String, meaning: String)] = [
        ("hjuag8", "58bwsk", "The user opened a URL"),
        ("jf1b59", "pxtu4v", "The user searched"),
        ("hy183e", "n9hwgu", "The user erased the browsing history"),
        ("t7m1ru", "usp0gb", "Page opened in Firefox"),
        ("ns4a3y", "5elufs", "Page opened in Safari"),
        ("5qb7ma", "6r6cx6", "App Store page of Firefox opened"),
        ("n4k5jo", "b42cgh", "System share menu opened"),
        ("ec8kb7", "w67hjo", "Safari blocklist switched on"),
        ("i0zoki", "8a1gtl", "Safari blocklist switched off"),
        ("1pmsby", "frnano", "Blocking of ad trackers switched on"),
        ("34xb7g", "uqm3k4", "Blocking of ad trackers switched off"),
        ("oimjge", "au3px7", "Blocking of analytics trackers switched on"),
        ("pppabq", "4t3lka", "Blocking of analytics trackers switched off"),
        ("9l4fiy", "6ddntz", "Blocking of social trackers switched on"),
        ("ha6nkv", "ohnn42", "Blocking of social trackers switched off"),
        ("fr308r", "tz19iu", "Blocking of other content trackers switched on"),
        ("vp5tjk", "vzlgmg", "Blocking of other content trackers switched off"),
        ("1zb5ah", "5fbqr5", "Blocking of web fonts switched on"),
        ("nfi1np", "oymwmb", "Blocking of web fonts switched off"),
    ]
}
