import Bytes
import JSONText
import Telemetry

/// The telemetry of apps that are built on Mozilla's Glean SDK, such as Firefox, Focus, Klar, Mozilla VPN and Lockwise.
///
/// Source: "Mozilla Glean SDK on iOS: on-disk stores, normalized pings, upload".
public struct GleanSystem: TelemetrySystem {
    /// The name of the system, `glean`.
    public let name = SystemName.glean
    /// The format of data directories, which contain ping files and pending events.
    public let stores: [any StoreFormat] = [GleanStores()]
    /// The format of captured pings.
    public let requests: any RequestFormat = GleanRequests()
    /// The format of ping uploads.
    public let uploads: any UploadFormat = GleanUploads()
    /// The rules for replacing identifiers with pseudonyms.
    public let pseudonyms: PseudonymFormat? = PseudonymFormat([(["every ping"], GleanSchema.allFields.pseudonyms)])
    /// The meanings of the events that the SDK itself records, and of those that are defined.
    public let vocabulary: (any Vocabulary)?
    /// The conversion of payloads to table rows.
    public let rows: (any RowFormat)?
    /// The numbering of pings, which starts at 0 for each ping name.
    ///
    /// Source: "Mozilla Glean SDK on iOS: on-disk stores, normalized pings, upload", section 4.
    public let sequence: SequenceFormat? = SequenceFormat(
        start: 0...0, sharedClients: [ClientID(GleanName.placeholderClient)],
        memberOfEveryType: .init([GleanKeys.pingInfo, GleanKeys.sequenceNumber]))
    /// The rules of the pipeline for pings.
    public let liveTables: (any LiveTableFormat)? = GleanLiveTables()
    /// The year 2018, in which the first version for Android was developed.
    public let firstYear = 2018
    /// The note code for a document id that occurs more than once.
    public let repeatedIDCode = "G23"

    /// Creates the system with the definitions of apps and libraries.
    public init(_ definitions: GleanDefinitions = GleanDefinitions()) {
        vocabulary = GleanVocabulary(definitions: definitions)
        rows = GleanRows(definitions: definitions)
    }
}

extension SystemName {
    /// The name of the telemetry of Mozilla's Glean SDK.
    public static let glean = SystemName("glean")
}

extension StoreKind {
    /// A file that contains one ping for upload.
    public static let gleanPingFile = StoreKind("glean-ping-file")
    /// A file of events that are not yet included in a ping.
    public static let gleanPendingEvents = StoreKind("glean-pending-events")
}

/// The meanings of the events that the SDK itself records, and of those that are defined.
///
/// The meaning of a defined event is the first sentence of its description.
///
/// Source: "Mozilla Glean SDK on iOS: on-disk stores, normalized pings, upload", sections 6 and 15.
private struct GleanVocabulary: Vocabulary {
    let definitions: GleanDefinitions

    private static let meanings = [
        "glean.restarted": "App started again",
        "glean.session_start": "Session began",
        "glean.session_end": "Session ended",
    ]

    func labels(of payload: JSONDocument, in record: RecordSummary, nested: inout JSONDocument) -> [String?] {
        guard let events = payload.array(GleanKeys.events, in: payload.root) else { return [] }
        return payload.elements(of: events).map { event in
            guard let category = payload.string(forKey: GleanKeys.category, in: event),
                let name = payload.string(forKey: GleanKeys.name, in: event)
            else { return nil }
            return Self.meanings["\(category).\(name)"] ?? definitions["\(category).\(name)"]?.summary
        }
    }
}

/// The rules of Mozilla's pipeline for pings of Glean.
///
/// Source: "BigQuery rows", section 8.
private struct GleanLiveTables: LiveTableFormat {
    private static let unwantedNamespaces: Set<CapturedText> = ["mozilla-lockbox", "viu-politica"]
    private static let desktop: CapturedText = "firefox-desktop"
    private static let vpn: CapturedText = "mozillavpn"
    /// The minor versions of the SDK, with the major version 0, from which the pipeline rejects pings of Mozilla VPN.
    private static let rejectedVersions = 0...16

    func rejection(of message: PipelineMessage, payload: JSONDocument) -> String? {
        let namespace = CapturedText(message.namespace)
        if Self.unwantedNamespaces.contains(namespace) { return "unwanted: \(namespace)" }
        if namespace == Self.desktop, message.agent?.utf8.starts(with: "Glean".utf8) != true {
            return "unwanted: \(namespace) without an agent of Glean"
        }
        guard namespace == Self.vpn, CapturedText(message.documentType) == "main",
            let info = payload.value(of: GleanKeys.clientInfo, in: payload.root),
            let build = payload.text(GleanKeys.sdkBuild, in: info)
        else { return nil }
        let numbers = build.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard numbers.count > 1, numbers[0].elementsEqual("0".utf8), let minor = Int(Substring(numbers[1])),
            Self.rejectedVersions.contains(minor)
        else { return nil }
        return "mozillavpn with an SDK before 0.17"
    }

    func redact(_ payload: inout JSONDocument, of message: PipelineMessage) {}
}
