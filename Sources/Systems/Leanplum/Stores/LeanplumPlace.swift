import Telemetry

/// Where the items of a Leanplum store come from, as far as records tell of it.
package struct LeanplumPlace: Sendable {
    /// The label of the capture.
    package var capture: String
    /// The file's path in the capture.
    package var path: String
    /// The kind of store.
    package var store: StoreKind
    /// The application id (`app_…`), where the name of the file or of a key in it tells it.
    package var applicationID: String?

    /// Says where the bytes of a store come from.
    package init(capture: String, path: String, store: StoreKind, applicationID: String? = nil) {
        self.capture = capture
        self.path = path
        self.store = store
        self.applicationID = applicationID
    }

    func source(index: Int) -> Source {
        Source(capture: capture, path: path, store: store, index: index)
    }
}
