import JSONText
import Telemetry

/// The documented meanings of the events of event pings: those of Focus and Klar, and those of WebXR Viewer.
struct MozillaVocabulary: Vocabulary {
    func labels(of payload: JSONDocument, type: String, nested: inout JSONDocument) -> [String?] {
        guard let events = payload.array(MeasurementKeys.events, in: payload.root) else { return [] }
        let meanings = Self.meanings(ofType: type)
        return payload.elements(of: events).map { event in meanings?.meaning(of: event, in: payload) }
    }

    private static func meanings(ofType type: String) -> EventMeanings? {
        switch type {
        case "focus-event": .focus
        case "mobile-event": .webXR
        // Other types of pings have no documented events.
        default: nil
        }
    }
}

extension EventMeanings {
    /// The meaning of an event as it stands in a ping; nil if it is none or the table does not have it.
    fileprivate func meaning(of event: JSONNode, in payload: JSONDocument) -> String? {
        guard EventTuples.isTuple(event, in: payload) else { return nil }
        let words = payload.elements(of: event).dropFirst().prefix(4).map { word in
            payload.kind(of: word) == .string ? payload.string(of: word) : nil
        }
        guard let category = words[0], let method = words[1], let object = words[2] else { return nil }
        return meaning(
            category: category, method: method, object: object, value: words.count > 3 ? words[3] : nil)
    }
}
