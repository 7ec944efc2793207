/// Where the bytes of a Mozilla store come from, as far as reading them depends on it.
public struct MozillaPlace: Sendable {
    /// The label of the capture.
    public var capture: String
    /// The file's path in the capture.
    public var path: String
    /// The kind of store.
    public var store: StoreKind
    /// The ping type that the name of the folder or file ends with; empty if it does not tell one.
    public var namedType: String
    /// The bundle id of the container, where it is known.
    public var applicationID: String?

    /// Makes a place.
    public init(
        capture: String, path: String, store: StoreKind, namedType: String, applicationID: String? = nil
    ) {
        self.capture = capture
        self.path = path
        self.store = store
        self.namedType = namedType
        self.applicationID = applicationID
    }

    func source(index: Int) -> Source {
        Source(capture: capture, path: path, store: store, index: index)
    }
}
