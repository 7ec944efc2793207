import JSONText
import Telemetry

/// The documented form of one payload: an action event, a bad-state event or a session ping.
///
/// Values beyond the enumerations are data: they are noted and stay.
///
/// Source: "Activity Stream New Tab pings of Firefox for iOS (Ping Centre)", sections 4.3 to 5.4 and 7.1.
enum ActivityStreamForm {
    private static let requiredTexts: [JSONKey] = ["app_version", "build", "locale"]
    private static let page: JSONKey = "page"
    private static let shareProvider: JSONKey = "share_provider"
    private static let pages = ["NEW_TAB"]
    private static let sources = ["TOP_SITES", "HIGHLIGHTS", "HIGHLIGHTS_INTRO", "POCKET"]

    /// Durations from here on the server discards.
    private static let durationLimit = 1 << 31
    /// No session lasts 30 years: from here on a duration is a time of the year 2001 or later.
    private static let earliestAbsoluteTime = 1_000_000_000_000

    /// Brings a payload into its form.
    /// - Parameter prefix: what stands before the names of fields in notes.
    static func normalize(
        _ payload: JSONNode, topic: ActivityStreamTopic, prefix: String, in document: inout JSONDocument,
        findings: inout Findings
    ) {
        for key in requiredTexts {
            checkText(key, isRequired: true, of: payload, prefix, in: document, findings: &findings)
        }
        checkText(ActivityStreamKeys.channel, isRequired: false, of: payload, prefix, in: document, findings: &findings)
        if document.value(of: ActivityStreamKeys.channel, in: payload) == nil {
            findings.note("A9 \(prefix)release_channel missing, as before 2017-01-30")
        }
        switch topic {
        case .events: normalizeEvent(payload, prefix, in: &document, findings: &findings)
        case .sessions: normalizeSession(payload, prefix, in: &document, findings: &findings)
        }
    }

    private static func normalizeEvent(
        _ payload: JSONNode, _ prefix: String, in document: inout JSONDocument, findings: inout Findings
    ) {
        let key = ActivityStreamKeys.self
        checkText(key.event, isRequired: true, of: payload, prefix, in: document, findings: &findings)
        for text in [page, key.source, shareProvider] {
            checkText(text, isRequired: false, of: payload, prefix, in: document, findings: &findings)
        }
        normalizeNumber(key.position, isRequired: false, of: payload, prefix, in: &document, findings: &findings)
        if let event = document.text(key.event, in: payload), ActivityStreamVocabulary.meaning(ofEvent: event) == nil {
            findings.note("5.1 \(prefix)event: a value that is not documented")
        }
        for (text, known, section) in [(page, pages, "4.4"), (key.source, sources, "5.3")] {
            if let value = document.text(text, in: payload), !known.contains(value) {
                findings.note("\(section) \(prefix)\(text): a value that is not documented")
            }
        }
    }

    private static func normalizeSession(
        _ payload: JSONNode, _ prefix: String, in document: inout JSONDocument, findings: inout Findings
    ) {
        let key = ActivityStreamKeys.sessionDuration
        normalizeNumber(key, isRequired: true, of: payload, prefix, in: &document, findings: &findings)
        guard let value = document.value(of: key, in: payload), document.kind(of: value) == .number,
            JSONNumberText.isPlainInteger(document.bytes(of: value))
        else { return }
        let duration = Int(document.string(of: value)) ?? Int.max
        if duration >= earliestAbsoluteTime {
            findings.note("\(prefix)session_duration is an absolute time in milliseconds, not a duration")
        } else if duration < 0 || duration >= durationLimit {
            findings.note("5.5 \(prefix)session_duration: the server discards it")
        }
    }

    private static func checkText(
        _ key: JSONKey, isRequired: Bool, of payload: JSONNode, _ prefix: String, in document: JSONDocument,
        findings: inout Findings
    ) {
        guard let value = document.value(of: key, in: payload) else {
            if isRequired { findings.fault("\(prefix)\(key) missing") }
            return
        }
        if document.kind(of: value) != .string { findings.fault("\(prefix)\(key) is no string") }
    }

    /// A number that other writers gave a fraction of zero is written as the integer that it is [A6].
    private static func normalizeNumber(
        _ key: JSONKey, isRequired: Bool, of payload: JSONNode, _ prefix: String, in document: inout JSONDocument,
        findings: inout Findings
    ) {
        guard let value = document.value(of: key, in: payload) else {
            if isRequired { findings.fault("\(prefix)\(key) missing") }
            return
        }
        guard document.kind(of: value) == .number else { return findings.fault("\(prefix)\(key) is no number") }
        guard !JSONNumberText.isPlainInteger(document.bytes(of: value)),
            let integer = JSONNumberText.integer(from: document.bytes(of: value))
        else { return }
        findings.note("A6 \(prefix)\(key): \(document.string(of: value)) written as integer")
        document.replace(value, withNumber: integer)
    }
}
