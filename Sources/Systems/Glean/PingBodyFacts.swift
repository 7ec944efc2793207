import Bytes
import JSONText
import Telemetry

/// The facts that are read from the body of a ping for its record, such as the client and the time.
///
/// The record also contains the unchanged body.
///
/// Source: "Mozilla Glean SDK on iOS: on-disk stores, normalized pings, upload", sections 8.1, 8.2 and 9.
struct PingBodyFacts {
    /// The client id as written in the body, or `nil` if it is not a UUID.
    private(set) var client: String?
    /// The time at which the ping was built, or `nil` if the body contains no valid time.
    private(set) var time: Timestamp?
    /// The version of the app, or `nil` if the body does not state it.
    private(set) var version: String?
    private(set) var build: String?
    private(set) var channel: String?
    /// The capabilities that the body requires of a program that uploads the ping.
    private(set) var requiredCapabilities: [String] = []
    /// Whether the body has a `client_info` or `ping_info` section.
    let hasInfoSection: Bool
    /// Whether the body has metrics, but not the id of a usage profile among them.
    private var lacksUsageProfile = false
    private var bodyNotes: [String] = []
    /// The hold for a body that violates the schema, or `nil` if the body is valid.
    private(set) var schemaHold: Hold?

    /// Collects the facts about the body, which is the root object of `document`.
    ///
    /// If `needsInfo` is `nil`, `client_info` and `ping_info` are required when one of them is present.
    init(of document: JSONDocument, needsInfo: Bool?) {
        let root = document.root
        let client = document.value(of: GleanKeys.clientInfo, in: root)
        let ping = document.value(of: GleanKeys.pingInfo, in: root)
        hasInfoSection = client != nil || ping != nil
        if let client { readClient(client, in: document) }
        if let ping { readTime(ping, in: document) }
        if let metrics = document.value(of: GleanKeys.metrics, in: root) { readMetrics(metrics, in: document) }
        let check = GleanSchema.check(document, needsInfo: needsInfo ?? hasInfoSection)
        var findings = check.findings
        if let client { Self.addFaults(forErrorMetricsIn: client, of: document, to: &findings) }
        schemaHold = findings.hold
        guard check.unknownCount > 0 else { return }
        bodyNotes.append("G46 not in the schema: \(NameList.text(check.unknownKeys, totalCount: check.unknownCount))")
    }

    /// Adds a fault for each error metric among the members of `client_info`.
    ///
    /// SDK version 69 writes its own errors there. The schema of the server rejects them, and no later version of the
    /// SDK adds such keys, so that an unknown key of this form is not only noted.
    private static func addFaults(
        forErrorMetricsIn info: JSONNode, of document: JSONDocument, to findings: inout Findings
    ) {
        for member in document.members(of: info) {
            let key = document.bytes(of: member.key)
            guard key.count > errorMetricPrefix.utf8.count,
                key.extracting(first: errorMetricPrefix.utf8.count).equals(errorMetricPrefix)
            else { continue }
            let name = String(readingUTF8: key).prefix(NameList.maximumNameLength)
            findings.fault("client_info.\(name): an error metric")
        }
    }

    /// The prefix of the names of the metrics that count the errors of the SDK.
    private static let errorMetricPrefix = "glean.error."

    private mutating func readClient(_ info: JSONNode, in document: JSONDocument) {
        version = document.string(forKey: GleanKeys.appDisplayVersion, in: info)
        build = document.string(forKey: GleanKeys.appBuild, in: info)
        channel = document.string(forKey: GleanKeys.appChannel, in: info)
        guard let id = document.value(of: GleanKeys.clientID, .string, in: info), document.bytes(of: id).isUUID else {
            return
        }
        let spelled = document.string(of: id)
        client = spelled
        if GleanName.isPlaceholder(spelled) { bodyNotes.append("G41 client id of many installations: a placeholder") }
    }

    private mutating func readMetrics(_ metrics: JSONNode, in document: JSONDocument) {
        if let lists = document.value(of: GleanKeys.stringLists, in: metrics),
            let list = document.value(of: GleanKeys.capabilities, in: lists)
        {
            requiredCapabilities = document.strings(of: list) ?? []
        }
        let profile = document.value(of: GleanKeys.uuids, .object, in: metrics)
            .flatMap { document.value(of: GleanKeys.usageProfile, .string, in: $0) }
        lacksUsageProfile = !(profile.map { document.bytes(of: $0).isUUID } ?? false)
    }

    private mutating func readTime(_ info: JSONNode, in document: JSONDocument) {
        guard let end = document.value(of: GleanKeys.endTime, .string, in: info) else { return }
        time = PingTime.timestamp(from: document.bytes(of: end))
        if time == nil { bodyNotes.append("G44 ping_info.end_time is no time of the years 0000 to 9999") }
    }
}

extension PingBodyFacts {
    /// Returns the app that the body describes, with the id `id` from the upload path.
    ///
    /// Returns `nil` if `id` and all properties in the body are unknown.
    func app(id: String?) -> App? { App(id: id, version: version, channel: channel, build: build) }

    /// Returns the notes about the body of a ping with the name `type`.
    func notes(onPingNamed type: String) -> [String] {
        guard type == GleanName.usageDeletionRequest, lacksUsageProfile else { return bodyNotes }
        return bodyNotes + ["G60 no usage.profile_id: the request can delete nothing"]
    }

    /// Returns a hold if the body or its metadata requires a capability other than plain HTTP (case G34).
    func capabilityHold(metadataCapabilities: [String]) -> Hold? {
        let names = Set((metadataCapabilities + requiredCapabilities).map { CapturedText($0) }).subtracting(["http"])
        guard !names.isEmpty else { return nil }
        return Hold("capability", NameList.text(names.sortedStrings))
    }
}

/// The time format of pings.
///
/// A time consists of a date, an optional time of day and an offset from UTC. The time of day may have hours, minutes,
/// seconds and a fraction of up to nine digits.
///
/// Source: "Mozilla Glean SDK on iOS: on-disk stores, normalized pings, upload", section 8.1, cases G43 and G44.
enum PingTime {
    /// Parses a time, or returns `nil` if it is invalid or if RFC 3339 cannot express its year.
    static func timestamp(from text: Span<UInt8>) -> Timestamp? {
        let dateLength = 10
        let zone = text.count - (!text.isEmpty && text[text.count - 1] == UInt8(ascii: "Z") ? 1 : 6)
        guard zone >= dateLength, text[zone].isOne(of: "Z+-"),
            let missing = missingPart(of: text.extracting(dateLength..<zone))
        else { return nil }
        let whole = text.extracting(..<zone).copied() + missing.utf8 + text.extracting(zone...).copied()
        return Timestamp(rfc3339: whole.span)
    }

    /// Returns whether a time has a precision of at least a minute.
    static func hasMinutes(_ text: Span<UInt8>) -> Bool { text.count > 16 && text[13] == UInt8(ascii: ":") }

    /// Returns the string to append to `time` so that the result is an RFC 3339 time of day.
    ///
    /// Returns `nil` if the time is invalid or is a leap second.
    private static func missingPart(of time: Span<UInt8>) -> String? {
        guard !time.isEmpty else { return "T00:00:00" }
        guard time[0] == UInt8(ascii: "T"), time.count < 9 || time[7] != UInt8(ascii: "6") else { return nil }
        switch time.count {
        case 3: return ":00:00"
        case 6: return ":00"
        case 9, 11...19: return ""
        default: return nil
        }
    }
}

/// The functions that format a list of names for a note.
///
/// The number and the length of the names are limited, because captures can be hostile.
enum NameList {
    private static let maximumNameCount = 8
    /// The maximum number of characters of each name in the list, which suffices for any metric name.
    static let maximumNameLength = 111

    /// Returns a string that lists the first names and states the number of omitted names.
    ///
    /// `totalCount` is the number of all names if `names` does not contain all of them.
    static func text(_ names: [String], totalCount: Int? = nil) -> String {
        let shown = names.prefix(maximumNameCount).map { String($0.prefix(maximumNameLength)) }
        let others = (totalCount ?? names.count) - shown.count
        return shown.joined(separator: ", ") + (others > 0 ? " and \(others) more" : "")
    }
}
