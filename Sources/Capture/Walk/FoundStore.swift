import Telemetry

/// A store that the walk found in a capture, and the container that it belongs to.
public struct FoundStore: Sendable {
    /// The store as its system recognized it.
    public let store: any Store
    /// The container, and which other stores lie in it.
    private let place: FoundContainer

    /// The container that it belongs to.
    public var container: Container { place.container }

    /// The number of the container. The containers with stores of a capture are numbered from 0, in the order of their first
    /// stores.
    public var containerNumber: Int { place.number }

    /// The places of all stores of the container, the store itself among them.
    var neighbors: [Int] { place.stores }

    /// Path below the root of the capture; a folder's without a slash at its end.
    public var path: String { store.path }

    /// Returns stores with their containers.
    /// - Parameters:
    ///   - stores: The stores, sorted by path.
    ///   - container: Returns the container of the store at a path.
    static func all(_ stores: [any Store], in container: (String) -> Container) -> [FoundStore] {
        // A container is a folder around its stores. Once a store is outside of it, all that follow are.
        var open: [(number: Int, container: Container, stores: [Int])] = []
        var containers: [FoundContainer?] = []
        var numbers: [Int] = []
        numbers.reserveCapacity(stores.count)
        func close() {
            let last = open.removeLast()
            containers[last.number] = FoundContainer(last.container, number: last.number, last.stores)
        }
        for (index, store) in stores.enumerated() {
            let path = store.path
            let own = container(path)
            while let last = open.last, !path.utf8.starts(with: last.container.path.utf8) { close() }
            if let place = open.lastIndex(where: { $0.container == own }) {
                open[place].stores.append(index)
                numbers.append(open[place].number)
            } else {
                open.append((containers.count, own, [index]))
                numbers.append(containers.count)
                containers.append(nil)
            }
        }
        while !open.isEmpty { close() }
        return stores.indices.compactMap { index in
            containers[numbers[index]].map { FoundStore(store: stores[index], place: $0) }
        }
    }
}

/// A container with stores. It is an object because its stores share it: a capture can have tens of thousands of containers.
private final class FoundContainer: Sendable {
    let container: Container
    let number: Int
    /// The indices of its stores among those of the capture.
    let stores: [Int]

    init(_ container: Container, number: Int, _ stores: [Int]) {
        self.container = container
        self.number = number
        self.stores = stores
    }
}
