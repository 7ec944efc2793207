import JSONText
import Telemetry

/// The documented form of an event in a list request.
///
/// Source: "Sift iOS SDK: on-disk store, list request", section 6.1.
enum SiftEventForm {
    private static let texts: [JSONKey] = [
        "installation_id", "mobile_event_type", "path", "user_id",
    ]
    private static let textMaps: [JSONKey] = ["device_properties", "fields", "metrics"]
    private static let objects: [JSONKey] = ["ios_app_state", "ios_device_properties"]
    private static let time: JSONKey = "time"

    /// All of its keys.
    static let keys = texts + textMaps + objects + [time]

    /// Checks an event.
    /// - Parameter name: what faults call it.
    static func check(_ event: JSONNode, name: String, in document: JSONDocument, findings: inout Findings) {
        guard document.kind(of: event) == .object else { return findings.fault("\(name) is no object") }
        if let time = document.value(of: time, in: event) {
            let isTime =
                document.kind(of: time) == .number
                && JSONNumberText.integer(from: document.bytes(of: time)).map {
                    UInt64(String(decoding: $0, as: UTF8.self)) != nil
                } ?? false
            if !isTime { findings.fault("\(name).time is no number of milliseconds") }
        } else {
            findings.fault("\(name).time missing")
        }
        for key in texts where !document.has(key, in: event, of: .string) {
            findings.fault("\(name).\(key) is no string")
        }
        for key in objects where !document.has(key, in: event, of: .object) {
            findings.fault("\(name).\(key) is no object")
        }
        for key in textMaps { check(key, of: event, name: name, in: document, findings: &findings) }
    }

    private static func check(
        _ key: JSONKey, of event: JSONNode, name: String, in document: JSONDocument, findings: inout Findings
    ) {
        guard let map = document.value(of: key, in: event) else { return }
        guard document.kind(of: map) == .object else { return findings.fault("\(name).\(key) is no object") }
        for position in 0..<document.memberCount(of: map) {
            let value = document.member(at: position, of: map).value
            guard document.kind(of: value) == .string else {
                return findings.fault("\(name).\(key) has a value that is no string")
            }
        }
    }
}

extension JSONDocument {
    /// Whether a member is missing or of a kind.
    fileprivate func has(_ key: JSONKey, in object: JSONNode, of kind: JSONKind) -> Bool {
        value(of: key, in: object).map { self.kind(of: $0) == kind } ?? true
    }
}
