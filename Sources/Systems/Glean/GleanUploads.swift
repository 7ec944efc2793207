import Bytes
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

/// The format of captured pings: request bodies, and debugging tags in request headers.
///
/// Source: "Mozilla Glean SDK on iOS: on-disk stores, normalized pings, upload", section 14; "HTTP Archive (HAR)
/// captures as a source of telemetry", sections C and D.
struct GleanRequests: RequestFormat {
    let hosts = [CapturedHost(GleanUploads.host)]
    let methods = ["POST"]
    let headers = [PingTags.debugID, PingTags.sourceTags]

    /// The number of components in an upload path.
    private static let partCount = 5

    /// Returns whether `parts` are the components of the upload path of a Glean ping instead of a telemetry-ios ping.
    func isUpload(_ parts: [[UInt8]]) -> Bool {
        parts.count == Self.partCount && parts.begin(with: "submit") && !parts.begin(with: "submit", "telemetry")
    }

    /// Recognizes a line as the body of a ping if it has the sections `client_info` and `ping_info`.
    ///
    /// Returns `nil` for any other line.
    func lineShape(of line: JSONDocument) -> LineShape? {
        let hasInfo = [GleanKeys.clientInfo, GleanKeys.pingInfo].allSatisfy { key in
            line.value(of: key, .object, in: line.root) != nil
        }
        return hasInfo ? .payload(isStoredToo: false) : nil
    }

    func record(of upload: CapturedUpload, in document: inout JSONDocument) throws(BodyError) -> Record {
        let parts = upload.route?.parts.map { String(decoding: $0, as: UTF8.self) } ?? []
        let facts = PingBodyFacts(of: document, needsInfo: nil)
        let payload = document.canonicalBytes(of: document.root)
        let isRouted = parts.count == Self.partCount
        var record = Record(
            system: .glean, type: isRouted ? parts[2] : "unknown",
            id: isRouted ? parts[4] : PayloadHash.id(of: payload), client: facts.client,
            time: facts.time ?? upload.time, app: facts.app(id: isRouted ? parts[1] : nil), payload: payload,
            source: upload.source)
        record = upload.completed(record)
        let tags = PingTags(upload.headers)
        tags.apply(to: &record)
        record.notes += facts.notes(onPingNamed: record.type)
        let holds = [
            facts.capabilityHold(metadataCapabilities: []), tags.rejectedTagNames.isEmpty ? nil : Hold("headers"),
        ]
        record.held = holds.compactMap(\.self) + record.held + [facts.schemaHold].compactMap(\.self)
        return record
    }
}

/// The debugging tags of a ping, which are header fields that control its processing on the server.
///
/// All other stored header fields are dropped, because they could be an attack or contain a secret.
///
/// Source: "Mozilla Glean SDK on iOS: on-disk stores, normalized pings, upload", section 8.3.
struct PingTags {
    /// The values of the valid tags, by header field name.
    private(set) var acceptedTags: [CapturedText: String] = [:]
    /// The names of the tags that were dropped because they have an invalid value or occur more than once.
    private(set) var rejectedTagNames: [String] = []
    /// The stored names of the header fields that are not tags.
    private(set) var otherFieldNames: [String] = []

    /// The name of the header field that sends a ping to the debug viewer.
    static let debugID = "X-Debug-ID"
    /// The name of the header field that separates test pings from production pings.
    static let sourceTags = "X-Source-Tags"

    /// Creates the debugging tags from the header fields of a Glean ping.
    init(_ fields: [HeaderField]) {
        for name in [Self.debugID, Self.sourceTags] {
            let values = fields.values(of: name)
            guard let value = values.first else { continue }
            if values.count == 1, Self.isAllowedTag(HeaderField(name, value)) {
                acceptedTags[name] = value
            } else {
                rejectedTagNames.append(name)
            }
        }
        otherFieldNames = fields.filter { !$0.isNamed(Self.debugID) && !$0.isNamed(Self.sourceTags) }.map(\.name)
    }

    /// Returns whether `field` is one of the two tags and has an allowed value.
    static func isAllowedTag(_ field: HeaderField) -> Bool {
        switch field.name {
        case debugID: return isWord(field.value.utf8[...])
        case sourceTags:
            let words = field.value.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
            return (1...5).contains(words.count) && words.allSatisfy(isWord)
        default: return false
        }
    }

    /// Returns whether `text` matches `[A-Za-z0-9-]{1,20}`.
    private static func isWord(_ text: Substring.UTF8View) -> Bool {
        (1...20).contains(text.count) && text.allSatisfy(\.isWordOrHyphen)
    }

    /// Adds the valid tags to the target of `record`, and adds notes about dropped header fields to `record`.
    func apply(to record: inout Record) {
        if !acceptedTags.isEmpty { record.target?.headers = acceptedTags }
        // Notes contain only names, because a value may be a secret.
        if !otherFieldNames.isEmpty { record.notes.append("G36 header \(NameList.text(otherFieldNames)) not carried") }
        guard !rejectedTagNames.isEmpty else { return }
        record.notes.append(
            "G37 header \(NameList.text(rejectedTagNames)) not carried: not an allowed tag, or there twice")
    }
}
