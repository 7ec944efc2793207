import Telemetry

/// The origin of the records from a Mozilla store.
struct MozillaStoreOrigin: Sendable {
    var capture: String
    var path: String
    var store: StoreKind
    /// The ping type at the end of the folder or file name, or an empty string if the name contains none.
    var pingTypeFromName: String
    /// The bundle id of the app container, if it is known.
    var applicationID: String?

    /// Returns the source of the record at `index` in the file.
    func source(index: Int) -> Source {
        Source(capture: capture, path: path, store: store, index: index)
    }
}
