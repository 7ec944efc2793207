import JSONText
import Telemetry

/// The fields of action events, bad-state events and session pings.
///
/// Values that are not in the documented enumerations are noted and kept. In records with pseudonyms, a required value
/// that does not have the expected form is replaced by `unknown` or `??`.
///
/// Source: "Activity Stream New Tab pings of Firefox for iOS (Ping Centre)", sections 4.3 to 5.5 and 7.1.
enum ActivityStreamFields {
    private static let documentedPages = ["NEW_TAB"]
    private static let documentedSources = ["TOP_SITES", "HIGHLIGHTS", "HIGHLIGHTS_INTRO", "POCKET"]

    /// The fields of all pings and batches, used only for pseudonyms.
    static let allFields = payloadFields + pingFields + serverFields

    private static let payloadFields = sharedFields + eventFields + sessionFields

    private static let pingFields: PayloadFields = [
        .flag(ActivityStreamKeys.batchMode, "whether the ping is a batch of several payloads"),
        .string(ActivityStreamKeys.clientID, .pseudonym(.client), "the id of the client"),
        .optional(ActivityStreamKeys.payloads, listOf: payloadFields, "the payloads of a batch"),
        .required(
            ActivityStreamKeys.topic, .string(), .keep(.word), "the topic, which determines the format of the ping"),
    ]

    /// The fields that the server adds to pings, such as the IP address of the device.
    private static let serverFields = PayloadFields(
        ActivityStreamKeys.serverKeys.map { .added($0, .any, .drop, "a value that the server adds to its log") })

    private static let sharedFields: PayloadFields = [
        .required(
            ActivityStreamKeys.appVersion, .string(), .keep(.version, else: .text("unknown")),
            "the version of the app"),
        .required(ActivityStreamKeys.build, .string(), .keep(.version, else: .text("unknown")), "the build of the app"),
        .required(ActivityStreamKeys.locale, .string(), .keep(.locale, else: .text("??")), "the locale of the app"),
        .string(ActivityStreamKeys.channel, .keep(.word), "the release channel of the app"),
    ]

    private static let eventFields: PayloadFields = [
        .required(ActivityStreamKeys.event, .string(), .keep(.word, else: .pseudonym(.event)), "the name of the event"),
        .optional(ActivityStreamKeys.position, .number(.any), .keep(.number), "the index of the selected item"),
        .string(ActivityStreamKeys.page, .keep(.word), "the page on which the event occurred"),
        .string("share_provider", .keep(.beginning("com.apple.")), "the app with which the item was shared"),
        .string(ActivityStreamKeys.source, .keep(.word), "the section of the page"),
    ]

    private static let sessionFields: PayloadFields = [
        .required(
            ActivityStreamKeys.sessionDuration, .number(.any), .time(.durationOrTime),
            "the number of milliseconds for which the page was open")
    ]

    private static let eventPayloadFields = sharedFields + eventFields
    private static let sessionPayloadFields = sharedFields + sessionFields

    /// The duration, in milliseconds, at or above which the server discards a session.
    private static let minimumDiscardedDuration = 1 << 31
    /// The value at or above which a duration is actually an absolute time in milliseconds, in the year 2001 or later.
    private static let earliestAbsoluteTime = 1_000_000_000_000

    /// Checks `payload`, and rewrites a number such as `1.0` as an integer.
    static func normalize(
        _ payload: JSONNode, topic: ActivityStreamTopic, at path: String, in document: inout JSONDocument,
        findings: inout Findings
    ) {
        let prefix = path.isEmpty ? "" : path + "."
        if document.value(of: ActivityStreamKeys.channel, in: payload) == nil {
            findings.note("A9 \(prefix)release_channel missing, as before 2017-01-30")
        }
        switch topic {
        case .events:
            findings.check(payload, eventPayloadFields, at: path, in: document)
            normalizeNumber(ActivityStreamKeys.position, of: payload, prefix, in: &document, findings: &findings)
            noteEvent(payload, prefix, in: document, findings: &findings)
        case .sessions:
            findings.check(payload, sessionPayloadFields, at: path, in: document)
            normalizeNumber(ActivityStreamKeys.sessionDuration, of: payload, prefix, in: &document, findings: &findings)
            noteSession(payload, prefix, in: document, findings: &findings)
        }
    }

    private static func noteEvent(
        _ payload: JSONNode, _ prefix: String, in document: JSONDocument, findings: inout Findings
    ) {
        if let event = document.text(ActivityStreamKeys.event, in: payload),
            ActivityStreamVocabulary.eventMeanings[event] == nil
        {
            findings.note("5.1 \(prefix)event: a value that is not documented")
        }
        for (key, known, section) in [
            (ActivityStreamKeys.page, documentedPages, "4.4"), (ActivityStreamKeys.source, documentedSources, "5.3"),
        ] {
            if let value = document.text(key, in: payload), !known.contains(value) {
                findings.note("\(section) \(prefix)\(key): a value that is not documented")
            }
        }
    }

    private static func noteSession(
        _ payload: JSONNode, _ prefix: String, in document: JSONDocument, findings: inout Findings
    ) {
        guard let value = document.value(of: ActivityStreamKeys.sessionDuration, .number, in: payload),
            JSONNumberText.isPlainInteger(document.bytes(of: value))
        else { return }
        let duration = Int(document.string(of: value)) ?? Int.max
        if duration >= earliestAbsoluteTime {
            findings.note("\(prefix)session_duration is an absolute time in milliseconds, not a duration")
        } else if duration < 0 || duration >= minimumDiscardedDuration {
            findings.note("5.5 \(prefix)session_duration: the server discards it")
        }
    }

    /// Rewrites the number for `key` as an integer if its fraction is zero [A6].
    private static func normalizeNumber(
        _ key: JSONKey, of payload: JSONNode, _ prefix: String, in document: inout JSONDocument,
        findings: inout Findings
    ) {
        guard let value = document.value(of: key, .number, in: payload),
            !JSONNumberText.isPlainInteger(document.bytes(of: value)),
            let integer = JSONNumberText.integer(from: document.bytes(of: value))
        else { return }
        findings.note("A6 \(prefix)\(key): \(document.string(of: value)) written as integer")
        document.replace(value, withNumber: integer)
    }
}

/// The topics of Activity Stream's pings.
///
/// Source: "Activity Stream New Tab pings of Firefox for iOS (Ping Centre)", section 4.2.
enum ActivityStreamTopic: String {
    /// The topic of action events and bad-state events.
    case events = "activity-stream-mobile-events"
    case sessions = "activity-stream-mobile-sessions"
}

/// The keys that are read from Activity Stream's pings.
enum ActivityStreamKeys {
    static let appVersion: JSONKey = "app_version"
    static let batchMode: JSONKey = "batch-mode"
    static let build: JSONKey = "build"
    static let channel: JSONKey = "release_channel"
    static let clientID: JSONKey = "client_id"
    static let event: JSONKey = "event"
    static let locale: JSONKey = "locale"
    static let page: JSONKey = "page"
    static let payloads: JSONKey = "payloads"
    static let position: JSONKey = "action_position"
    static let sessionDuration: JSONKey = "session_duration"
    static let source: JSONKey = "source"
    static let timestamp: JSONKey = "timestamp"
    static let topic: JSONKey = "topic"

    /// The keys that the server adds to pings in its own log.
    static let serverKeys: [JSONKey] = ["action", "date", "ip", "timestamp", "ua"]
}
