import Bytes
import JSONText
import Telemetry

/// The meanings of the event types that the SDK itself defines.
///
/// All other event types are defined by apps, so their meanings are unknown.
///
/// Source: "Sift iOS SDK: on-disk store, list request", sections 5.1 to 5.4.
struct SiftVocabulary: Vocabulary {
    private static let meanings: [CapturedText: String] = [
        "UIApplicationDidBecomeActiveNotification": "App came to the front",
        "UIApplicationDidEnterBackgroundNotification": "App went to the background",
        "ios_app_state": "State of the app and its sensors",
        "ios_device_properties": "Properties of the device",
    ]

    func labels(of payload: JSONDocument, type: String, nested: inout JSONDocument) -> [String?] {
        guard let events = payload.array(SiftRequestKeys.data, in: payload.root) else { return [] }
        return payload.elements(of: events).map { event in
            payload.siftEventType(of: event).flatMap { Self.meanings[$0] }
        }
    }
}

extension JSONDocument {
    /// Returns the type of an event, or `nil` if it is unknown.
    ///
    /// The SDK stores app states and device properties without a type, and adds the type when it sends them.
    func siftEventType(of event: JSONNode) -> String? {
        if let type = text(SiftRequestKeys.type, in: event) { return type }
        let state = [SiftRequestKeys.appState, SiftRequestKeys.deviceProperties].first { key in
            value(of: key, in: event).map { kind(of: $0) != .null } ?? false
        }
        return state?.description
    }
}
