import JSONText
import Telemetry

/// The topics of Activity Stream's pings.
///
/// Source: "Activity Stream New Tab pings of Firefox for iOS (Ping Centre)", section 4.2.
enum ActivityStreamTopic: String {
    /// The topic of action events and bad-state events.
    case events = "activity-stream-mobile-events"
    case sessions = "activity-stream-mobile-sessions"
}

extension JSONDocument {
    /// The pings of a batch, or the root of the document if the document is not a batch or the batch contains no pings.
    var activityStreamPings: [JSONNode] {
        let batch = array(ActivityStreamKeys.payloads, in: root).map { elements(of: $0) } ?? []
        return batch.isEmpty ? [root] : batch
    }
}
