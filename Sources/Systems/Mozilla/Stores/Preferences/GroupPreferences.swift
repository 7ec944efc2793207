import JSONText
import PropertyList

/// The preferences of an app group, in which events of Firefox's share extension wait until the app builds a ping.
enum GroupPreferences {
    /// The key of the array of events.
    static let eventsKey = "profile.AppExtensionTelemetryEvents"

    /// The number of events that wait.
    static func eventCount(in document: PropertyListDocument) -> Int {
        document.value(of: JSONKey(eventsKey), in: document.root).map { document.elements(of: $0).count } ?? 0
    }
}
