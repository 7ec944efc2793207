import JSONText

/// The keys of pings and events that the code reads.
enum GleanKeys {
    static let clientInfo: JSONKey = "client_info"
    static let events: JSONKey = "events"
    static let metrics: JSONKey = "metrics"
    static let pingInfo: JSONKey = "ping_info"

    // Information
    static let appBuild: JSONKey = "app_build"
    static let appChannel: JSONKey = "app_channel"
    static let appDisplayVersion: JSONKey = "app_display_version"
    static let clientID: JSONKey = "client_id"
    static let deviceModel: JSONKey = "device_model"
    static let endTime: JSONKey = "end_time"
    static let locale: JSONKey = "locale"
    static let os: JSONKey = "os"
    static let osVersion: JSONKey = "os_version"
    static let sdkBuild: JSONKey = "telemetry_sdk_build"
    static let sequenceNumber: JSONKey = "seq"
    static let startTime: JSONKey = "start_time"

    // Events
    static let category: JSONKey = "category"
    /// The key of the extra that contains the time of the event according to the phone's clock.
    static let clockTime: JSONKey = "glean_timestamp"
    static let executionCounter: JSONKey = "execution_counter"
    static let extra: JSONKey = "extra"
    static let name: JSONKey = "name"
    static let timestamp: JSONKey = "timestamp"

    // Metrics
    static let capabilities: JSONKey = "glean.ping.uploader_capabilities"
    static let stringLists: JSONKey = "string_list"
    static let usageProfile: JSONKey = "usage.profile_id"
    static let uuids: JSONKey = "uuid"
}
