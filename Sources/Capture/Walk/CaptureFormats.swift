import Telemetry

/// The store formats that are recognized in a capture.
enum CaptureFormats {
    /// Returns the formats of all systems, and those of request logs.
    static func all(_ systems: SystemTable) -> [StoreFormat] {
        systems.all.compactMap(\.stores) + [StoreFormat.requestLogs(of: systems)]
    }
}
