import Telemetry

/// Where the bytes of a Mozilla store come from, as far as reading them depends on it.
struct MozillaPlace: Sendable {
    var capture: String
    var path: String
    var store: StoreKind
    /// The ping type that the name of the folder or file ends with; empty if it does not tell one.
    var namedType: String
    /// The bundle id of the container, where it is known.
    var applicationID: String?

    func source(index: Int) -> Source {
        Source(capture: capture, path: path, store: store, index: index)
    }
}
