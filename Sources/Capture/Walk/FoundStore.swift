import Telemetry

/// A store that the walk found in a capture, and the system whose store it is.
public struct FoundStore: Sendable {
    /// The store as its system recognized it.
    public let store: any Store
    /// The container that it belongs to.
    public let container: Container

    /// Path below the root of the capture; a folder's without a slash at its end.
    public var path: String { store.path }
}
