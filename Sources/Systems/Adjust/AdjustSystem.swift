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
    public let pseudonyms: PseudonymFormat? = PseudonymFormat([(["every type"], AdjustParameters.fields.pseudonyms)])
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
/// The meanings of events are those of Focus 1.1 to 3.2 and of Klar.
///
/// Source: "Adjust iOS SDK: the package queue on disk, records, upload", section 12.
struct AdjustVocabulary: Vocabulary {
    private static let types = [
        AdjustType.session: "App session", AdjustType.deletionRequest: "Device asked to be forgotten",
        "info": "SDK information (push token or tracking permission)",
    ]

    func labels(of payload: JSONDocument, in record: RecordSummary, nested: inout JSONDocument) -> [String?] {
        let token = payload.text(AdjustParameters.eventToken, in: payload.root)
        return [token.map { Self.meanings[$0] } ?? Self.types[record.type]]
    }

    /// The meanings of the events, by token.
    static let meanings = Dictionary(
        uniqueKeysWithValues: tokens.flatMap { meaning, tokens in tokens.map { ($0, meaning) } })

    /// The token of each event in Focus and in Klar, by meaning.
    private static let tokens: KeyValuePairs<String, [CapturedText]> = [
        "The user opened a URL": ["hjuag8", "58bwsk"],
        "The user searched": ["jf1b59", "pxtu4v"],
        "The user erased the browsing history": ["hy183e", "n9hwgu"],
        "Page opened in Firefox": ["t7m1ru", "usp0gb"],
        "Page opened in Safari": ["ns4a3y", "5elufs"],
        "App Store page of Firefox opened": ["5qb7ma", "6r6cx6"],
        "System share menu opened": ["n4k5jo", "b42cgh"],
        "Safari blocklist switched on": ["ec8kb7", "w67hjo"],
        "Safari blocklist switched off": ["i0zoki", "8a1gtl"],
        "Blocking of ad trackers switched on": ["1pmsby", "frnano"],
        "Blocking of ad trackers switched off": ["34xb7g", "uqm3k4"],
        "Blocking of analytics trackers switched on": ["oimjge", "au3px7"],
        "Blocking of analytics trackers switched off": ["pppabq", "4t3lka"],
        "Blocking of social trackers switched on": ["9l4fiy", "6ddntz"],
        "Blocking of social trackers switched off": ["ha6nkv", "ohnn42"],
        "Blocking of other content trackers switched on": ["fr308r", "tz19iu"],
        "Blocking of other content trackers switched off": ["vp5tjk", "vzlgmg"],
        "Blocking of web fonts switched on": ["1zb5ah", "5fbqr5"],
        "Blocking of web fonts switched off": ["nfi1np", "oymwmb"],
    ]
}
