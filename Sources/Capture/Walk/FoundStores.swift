import Bytes
import Telemetry

/// A store in a capture, and its container.
public struct FoundStore: Sendable {
    /// The store as recognized by its system.
    public let store: any Store
    fileprivate let compactContainer: CompactContainer
    /// The index of the container among the containers with stores, in the order of their first stores.
    public let containerNumber: Int

    /// The path relative to the root of the capture, without a trailing slash.
    public var path: String { store.path }

    /// The container of the store.
    public var container: Container {
        Container(
            path: String(decoding: path.utf8.prefix(Int(compactContainer.pathLength)), as: UTF8.self),
            identifier: compactContainer.identifier, kind: compactContainer.kind)
    }
}

/// A container with only the length of its path, because the path is a prefix of the path of each of its stores.
private struct CompactContainer {
    let pathLength: UInt32
    let kind: Container.Kind
    let identifier: String?

    init(_ container: Container) {
        pathLength = UInt32(container.path.utf8.count)
        kind = container.kind
        identifier = container.identifier
    }
}

/// The stores of a capture.
///
/// A capture can have hundreds of thousands of stores and containers. To save memory, each store is kept with only the
/// number of its container, and a container is kept without its path.
public struct FoundStores: RandomAccessCollection, Sendable {
    private var stores: [any Store] = []
    /// The number of the container of each store.
    private var containerNumbers: [UInt32] = []
    private var containers: [CompactContainer] = []
    /// The indices of the stores, grouped by container and in the order of their paths.
    private var indicesByContainer: [UInt32] = []
    /// The index, in `indicesByContainer`, of the first store of each container, followed by the number of stores.
    private var firstIndices: [Int] = [0]
    private let facts = ContainerFacts()

    /// The number of containers with stores.
    public var containerCount: Int { containers.count }

    /// The index of the first store, which is always 0.
    public var startIndex: Int { 0 }
    /// The index after the last store, which equals the number of stores.
    public var endIndex: Int { stores.count }

    /// Returns a store with its container.
    public subscript(index: Int) -> FoundStore {
        let number = Int(containerNumbers[index])
        return FoundStore(store: stores[index], compactContainer: containers[number], containerNumber: number)
    }

    mutating func append(contentsOf found: [any Store]) { stores += found }

    /// Sorts the stores by the UTF-8 bytes of their paths, and sets their containers.
    ///
    /// `container` returns the container of the store at a path.
    mutating func sort(findingContainers container: (String) -> Container) {
        stores.sort { left, right in
            let order = left.path.utf8.span.ordered(against: right.path.utf8.span)
            // One file can be a store of two systems.
            return order == 0 ? left.kind.description < right.kind.description : order < 0
        }
        (containers, containerNumbers) = ([], [])
        containerNumbers.reserveCapacity(stores.count)
        // Once a store is outside of a container, all following stores are outside of it, too.
        var open: [(number: Int, container: Container)] = []
        for store in stores {
            let path = store.path
            let own = container(path)
            while let last = open.last, !path.utf8.starts(with: last.container.path.utf8) { open.removeLast() }
            if let known = open.last(where: { $0.container == own }) {
                containerNumbers.append(UInt32(known.number))
            } else {
                containerNumbers.append(UInt32(containers.count))
                open.append((containers.count, own))
                containers.append(CompactContainer(own))
            }
        }
        groupByContainer()
    }

    private mutating func groupByContainer() {
        firstIndices = Array(repeating: 0, count: containers.count + 1)
        for number in containerNumbers { firstIndices[Int(number) + 1] += 1 }
        for number in containers.indices { firstIndices[number + 1] += firstIndices[number] }
        var nextIndices = firstIndices
        indicesByContainer = Array(repeating: 0, count: stores.count)
        for (index, number) in containerNumbers.enumerated() {
            indicesByContainer[nextIndices[Int(number)]] = UInt32(index)
            nextIndices[Int(number)] += 1
        }
    }

    /// Returns all stores in the container of `found`, including `found` itself.
    func neighbors(of found: FoundStore) -> ContainerStores {
        let number = found.containerNumber
        return ContainerStores(
            stores, at: indicesByContainer[firstIndices[number]..<firstIndices[number + 1]], facts: facts)
    }

    /// Returns the indices of the stores at `path`, which may be several if systems share a file.
    public func indices(at path: String) -> Range<Int> {
        let first = firstIndex(from: path.utf8)
        let end = stores[first...].firstIndex { !$0.path.utf8.elementsEqual(path.utf8) } ?? stores.endIndex
        return first..<end
    }

    private func firstIndex(from path: some Sequence<UInt8>) -> Int {
        stores.indices.partitioningIndex { stores[$0].path.utf8.lexicographicallyFollowsOrEquals(path) }
    }
}
