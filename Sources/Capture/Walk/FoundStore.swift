import Telemetry

/// A store that the walk found in a capture, and the container that it belongs to.
public struct FoundStore: Sendable {
    /// The store as its system recognized it.
    public let store: any Store
    /// The container, and which other stores lie in it.
    private let place: FoundContainer

    /// The container that it belongs to.
    public var container: Container { place.container }

    /// The places of all stores of the container, the store itself among them.
    var neighbors: [Int] { place.stores }

    /// Path below the root of the capture; a folder's without a slash at its end.
    public var path: String { store.path }

    /// Puts the stores of a capture together with their containers.
    /// - Parameter containers: of each store the one that it belongs to, in the same order.
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

/// A container with stores. An object that its stores share: there can be tens of thousands of them.
private final class FoundContainer: Sendable {
    let container: Container
    /// The places of its stores among those of the capture.
    let stores: [Int]

    init(_ container: Container, _ stores: [Int]) {
        self.container = container
        self.stores = stores
    }
}
