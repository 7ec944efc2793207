import JSONText
import Telemetry

/// The meanings of the events that the SDK itself records, which are the only documented events.
///
/// Source: "Mozilla Glean SDK on iOS: on-disk stores, normalized pings, upload", section 6.
struct GleanVocabulary: Vocabulary {
    private static let meanings = [
        "glean.restarted": "App started again",
        "glean.session_start": "Session began",
        "glean.session_end": "Session ended",
    ]

    func labels(of payload: JSONDocument, type: String, nested: inout JSONDocument) -> [String?] {
        guard let events = payload.array(GleanKeys.events, in: payload.root) else { return [] }
        return payload.elements(of: events).map { event in
            guard let category = payload.string(forKey: GleanKeys.category, in: event),
                let name = payload.string(forKey: GleanKeys.name, in: event)
            else { return nil }
            return Self.meanings["\(category).\(name)"]
        }
    }
}
