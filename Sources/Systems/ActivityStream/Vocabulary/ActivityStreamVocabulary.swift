import Bytes
import JSONText
import Telemetry

/// The meanings of the events of Activity Stream's pings.
///
/// Source: "Activity Stream New Tab pings of Firefox for iOS (Ping Centre)", sections 4.6, 5.1 and 5.2.
struct ActivityStreamVocabulary: Vocabulary {
    /// The meaning of a session ping.
    static let sessionMeaning = "New Tab panel shown for a while"

    static let eventMeanings: [CapturedText: String] = [
        "ADD_BOOKMARK": "Bookmark added",
        "CLICK": "Item tapped",
        "DELETE": "Highlight deleted from history",
        "DISMISS": "Item dismissed",
        "MISSING_FAVICON": "No icon for the site",
        "MISSING_METADATA_IMAGE": "No image for the site",
        "NEW_PRIVATE_TAB": "Item opened in a new private tab",
        "NEW_TAB": "Item opened in a new tab",
        "REMOVE": "Top site removed",
        "REMOVE_BOOKMARK": "Bookmark removed",
        "SHARE": "Share sheet closed",
    ]

    /// Returns the meaning of the ping in `payload`, or of each ping if `payload` is a batch.
    func labels(of payload: JSONDocument, type: String, nested: inout JSONDocument) -> [String?] {
        let pings = payload.activityStreamPings
        guard type == ActivityStreamTopic.events.rawValue else { return pings.map { _ in Self.sessionMeaning } }
        return pings.map { ping in payload.text(ActivityStreamKeys.event, in: ping).flatMap { Self.eventMeanings[$0] } }
    }
}
