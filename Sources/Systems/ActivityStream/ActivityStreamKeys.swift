import JSONText

/// The keys that are read from Activity Stream's pings.
enum ActivityStreamKeys {
    static let appVersion: JSONKey = "app_version"
    static let batchMode: JSONKey = "batch-mode"
    static let build: JSONKey = "build"
    static let channel: JSONKey = "release_channel"
    static let clientID: JSONKey = "client_id"
    static let event: JSONKey = "event"
    static let locale: JSONKey = "locale"
    static let page: JSONKey = "page"
    static let payloads: JSONKey = "payloads"
    static let position: JSONKey = "action_position"
    static let sessionDuration: JSONKey = "session_duration"
    static let source: JSONKey = "source"
    static let timestamp: JSONKey = "timestamp"
    static let topic: JSONKey = "topic"

    /// The keys that the server adds to pings in its own log.
    static let serverKeys: [JSONKey] = ["action", "date", "ip", "timestamp", "ua"]
}
