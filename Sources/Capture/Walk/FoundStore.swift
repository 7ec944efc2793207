import Telemetry

/// A store that the walk found in a capture, and the system whose store it is.
public struct FoundStore: Sendable {
    /// The store as its system recognized it.
    public let store: any Store
    /// The container that it belongs to, and what else does.
    private let place: FoundContainer

    /// The container that it belongs to.
    public var container: Container { place.container }

    /// The places of all stores of the container, the store itself among them.
    var neighbors: [Int] { place.stores }

    /// Path below the root of the capture; a folder's without a slash at its end.
    public var path: String { store.path }

    /// Puts stores together with their containers, one of each pair after the other.
    static func together(_ stores: [any Store], _ containers: [Container]) -> [FoundStore] {
        var places: [Container: FoundContainer] = [:]
        for (container, stores) in Dictionary(grouping: stores.indices, by: { containers[$0] }) {
            places[container] = FoundContainer(container, stores)
        }
        return zip(stores, containers).map { store, container in
            FoundStore(store: store, place: places[container] ?? FoundContainer(container, []))
        }
    }
}

/// A container with stores: there may be as many as files, and each is there once.
private final class FoundContainer: Sendable {
    let container: Container
    /// The places of its stores among those of the capture.
    let stores: [Int]

    init(_ container: Container, _ stores: [Int]) {
        self.container = container
        self.stores = stores
    }
}
