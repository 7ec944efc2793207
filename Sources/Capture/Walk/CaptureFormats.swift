import Telemetry

/// The store formats that are recognized in a capture.
enum CaptureFormats {
    /// Returns the store formats of all systems, and the format of request logs.
    static func all(_ systems: SystemTable) -> [StoreFormat] {
        systems.all.compactMap(\.stores) + [StoreFormat.requestLogs(of: systems)]
    }
}
