import JSONText
import Telemetry

/// The documented meanings of the events of Focus, Klar and WebXR Viewer.
struct MozillaVocabulary: Vocabulary {
    func labels(of payload: JSONDocument, type: String, nested: inout JSONDocument) -> [String?] {
        guard let events = payload.array(MeasurementKeys.events, in: payload.root) else { return [] }
        let meanings = Self.meanings(ofType: type)
        var labels: [String?] = []
        labels.reserveCapacity(payload.count(of: events))
        var event = payload.firstElement(of: events)
        while let current = event {
            labels.append(meanings?.meaning(of: current, in: payload))
            event = payload.element(after: current, of: events)
        }
        return labels
    }

    private static func meanings(ofType type: String) -> EventMeanings? {
        switch type {
        case "focus-event": .focus
        case "mobile-event": .webXR
        // Other ping types have no documented events.
        default: nil
        }
    }
}

extension EventMeanings {
    /// Returns the meaning of an event in a ping, or `nil` if the table does not contain the event.
    fileprivate func meaning(of event: JSONNode, in payload: JSONDocument) -> String? {
        guard EventTuples.isTuple(event, in: payload), let time = payload.firstElement(of: event),
            let category = payload.element(after: time, of: event),
            let method = payload.element(after: category, of: event),
            let object = payload.element(after: method, of: event)
        else { return nil }
        let value = payload.element(after: object, of: event)
        guard let value, payload.kind(of: value) == .string else {
            return meaning(
                category: payload.bytes(of: category), method: payload.bytes(of: method),
                object: payload.bytes(of: object), value: nil)
        }
        return meaning(
            category: payload.bytes(of: category), method: payload.bytes(of: method), object: payload.bytes(of: object),
            value: payload.bytes(of: value))
    }
}
