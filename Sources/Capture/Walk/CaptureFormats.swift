import Telemetry

/// The formats of stores that are looked for in a capture.
enum CaptureFormats {
    /// The stores of the systems, and logs of requests of any of them.
    static func all(_ systems: SystemTable) -> [StoreFormat] {
        systems.all.compactMap(\.stores) + [StoreFormat.requestLogs(of: systems)]
    }
}
