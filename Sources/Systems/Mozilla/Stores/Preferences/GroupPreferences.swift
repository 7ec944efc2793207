import JSONText
import PropertyList

/// The preferences of an app group, in which events of Firefox's share extension wait until the app builds a ping.
enum GroupPreferences {
    /// The key of the array of events.
    static let eventsKey = "profile.AppExtensionTelemetryEvents"

    /// How many events wait.
    /// - Throws: `PropertyListError` if the bytes are no property list.
    static func eventCount(in bytes: [UInt8]) throws(PropertyListError) -> Int {
        let document = try PropertyListDocument(bytes)
        return document.value(of: JSONKey(eventsKey), in: document.root).map { document.elements(of: $0).count } ?? 0
    }
}
