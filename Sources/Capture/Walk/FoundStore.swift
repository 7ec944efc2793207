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
        var numbers: [Container: Int] = [:]
        var places: [[Int]] = []
        var numberOfStore: [Int] = []
        for (place, container) in containers.enumerated() {
            // Mostly the one before has the same.
            let isSame = place > 0 && container == containers[place - 1]
            let number = isSame ? numberOfStore[place - 1] : numbers[container] ?? places.count
            if number == places.count {
                numbers[container] = number
                places.append([])
            }
            places[number].append(place)
            numberOfStore.append(number)
        }
        let found = places.map { FoundContainer(containers[$0[0]], $0) }
        return zip(stores, numberOfStore).map { FoundStore(store: $0, place: found[$1]) }
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
