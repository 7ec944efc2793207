import JSONText
import Telemetry

/// The format of ping uploads.
///
/// The body of a ping is compressed, and is sent to the path that the SDK stored with the ping.
///
/// Source: "Mozilla Glean SDK on iOS: on-disk stores, normalized pings, upload", section 11.
struct GleanUploads: UploadFormat {
    /// The host that apps send pings to.
    static let host = "incoming.telemetry.mozilla.org"

    let endpoint = "https://\(host)"
    // Deletion requests are sent before all other pings. If a client has a `deletion-request`, only its deletion requests
    // are sent.
    let precedence = Precedence(
        first: [GleanName.usageDeletionRequest], deletionRequests: [GleanName.deletionRequest])
    let holds = [
        HoldCode("capability", "requires an anonymous upload method, such as OHTTP", isFinal: true),
        HoldCode("incomplete", "is an unfinished ping, which the SDK has not queued"),
        HoldCode("metadata", "has a metadata line that cannot be parsed"),
        HoldCode("headers", "has header fields that are not allowed in uploads"),
    ]
    let deliveredStatuses = 200...299

    func isTargetPath(_ path: String) -> Bool { GleanPath(path.utf8.span) != nil }

    func isTargetHeader(_ field: HeaderField) -> Bool { PingTags.isAllowedTag(field) }

    func content(of payload: [UInt8], credential: Credential, now: Timestamp) -> RequestContent {
        RequestContent(type: "application/json; charset=utf-8", body: payload, isCompressed: true)
    }

    func path(of target: Target, replacingIDs pseudonym: (_ value: String, PseudonymClass) -> String) -> String? {
        let path = target.path.utf8.span
        guard let parts = GleanPath(path) else { return nil }
        func text(_ range: Range<Int>) -> String { String(readingUTF8: path.extracting(range)) }
        // Apps can choose any namespace and any ping name, so a string of an unexpected form is replaced.
        let namespace = AppProperty.id.shown(text(parts.namespace), pseudonym) ?? AppProperty.unknown
        let ping = AppProperty.channel.shown(text(parts.ping), pseudonym) ?? AppProperty.unknown
        let version = text(parts.ping.upperBound..<parts.documentID.lowerBound)
        return "/submit/\(namespace)/\(ping)\(version)\(pseudonym(text(parts.documentID), .document))"
    }

    /// Returns the subjects, besides the Glean client, whose data a ping asks the server to delete.
    ///
    /// A deletion request of Firefox and Focus names the client of telemetry-ios, and a deletion request for usage data
    /// names a profile.
    func subjects(
        withdrawnBy record: borrowing Record, using document: inout JSONDocument
    ) -> [Withdrawal.Subject] {
        switch record.type {
        case GleanName.deletionRequest:
            return Self.uuid(Self.legacyClient, in: record, &document).map {
                [.init(Self.legacySystem, .client, id: $0)]
            } ?? []
        case GleanName.usageDeletionRequest:
            return profile(of: record, using: &document).map { [.init(.glean, .profile, id: $0)] } ?? []
        default: return []
        }
    }

    /// Returns the usage profile of a ping without a client, or `nil` if it has none.
    func profile(of record: borrowing Record, using document: inout JSONDocument) -> String? {
        [GleanName.usageReporting, GleanName.usageDeletionRequest].contains(record.type)
            ? Self.uuid(GleanKeys.usageProfile, in: record, &document) : nil
    }

    /// The system of telemetry-ios, which the same apps used before Glean.
    private static let legacySystem = SystemName("mozilla")
    private static let legacyClient: JSONKey = "legacy.ids.client_id"

    /// Returns the value of a metric of type `uuid`, or `nil` if the payload does not contain it.
    private static func uuid(
        _ name: JSONKey, in record: borrowing Record, _ document: inout JSONDocument
    ) -> String? {
        guard (try? document.read(record.payload, policy: JSONReadingPolicy(unpairedSurrogates: .keep))) != nil else {
            return nil
        }
        defer { document.reset() }
        guard let metrics = document.value(of: GleanKeys.metrics, .object, in: document.root),
            let values = document.value(of: GleanKeys.uuids, .object, in: metrics)
        else { return nil }
        return document.text(name, in: values)
    }

    func isPath(_ text: String, ofID id: String, type: String) -> Bool {
        let path = text.utf8.span
        guard let parts = GleanPath(path) else { return false }
        return path.extracting(parts.documentID).equals(id) && path.extracting(parts.ping).equals(type)
    }
}
