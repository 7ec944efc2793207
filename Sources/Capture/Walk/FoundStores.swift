import Bytes
import DeviceBackup
import Files
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

// MARK: - Containers

/// The app, app group or plugin that owns a container.
struct ContainerOwner {
    /// The bundle ID of the app, or the identifier of the group or the plugin.
    let identifier: String
    /// The kind of the container, or `nil` if it must be derived from the identifier.
    var kind: Container.Kind?
}

/// A finder for the containers of stores, and for the owners of the containers.
///
/// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", section 1.2.
struct ContainerFinder {
    /// The name of the file in which iOS records the owner of a container.
    static let metadataName = ".com.apple.mobile_container_manager.metadata.plist"

    /// The name of the property list with the bundle ID of the app, which Xcode stores next to a packed container.
    static let packageInfoName = "AppDataInfo.plist"
    /// The name of the folder of a container packed by Xcode.
    static let packedFolderName = "AppData"

    /// The known owners by the paths of their containers, from metadata files, Xcode packages and backup domains.
    let owners: [CapturedText: ContainerOwner]
    let tree: FileTree
    let rootName: String

    /// The result of the last search, which is cached because many stores are in the same folder.
    private var lastResult: (folder: String, container: Container)?

    init(owners: [CapturedText: ContainerOwner], tree: FileTree, rootName: String) {
        self.owners = owners
        self.tree = tree
        self.rootName = rootName
    }

    /// Returns the container of the store at `storePath`.
    ///
    /// The container is the nearest folder with a known owner. If there is none, it is the folder that contains the
    /// nearest `Documents` or `Library`, or else the folder of the store.
    mutating func container(of storePath: String) -> Container {
        let prefix = tree.part(of: storePath)?.prefix ?? ""
        let inside = storePath.utf8.dropFirst(prefix.utf8.count)
        let slash = inside.lastIndex(of: UInt8(ascii: "/"))
        let folder = String(storePath[..<(slash ?? inside.startIndex)])
        if let lastResult, lastResult.folder.utf8.span.equals(folder.utf8.span) { return lastResult.container }
        let found = container(ofFolder: slash.map { inside[..<$0] }, prefix: prefix)
        lastResult = (folder, found)
        return found
    }

    /// Returns the container of the stores in `folder`, which is a path relative to `prefix`.
    ///
    /// `folder` is `nil` if the stores are not in a folder.
    private func container(ofFolder folder: Substring.UTF8View?, prefix: String) -> Container {
        if let container = nearestOwnedContainer(folder, prefix: prefix) { return container }
        let rootName = prefix.isEmpty ? rootName : ArchiveLocation.rootName(of: String(prefix.dropLast()))
        // Split by bytes, because a slash can form one character with a combining mark after it.
        let parts = folder?.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) ?? []
        let folders = parts.map { Substring($0) }
        let nearest = folders.lastIndex { $0 == "Documents" || $0 == "Library" }
        let path = (nearest.map { folders[..<$0] } ?? folders[...]).joined(separator: "/")
        let owner =
            BackupDomain(name: path.isEmpty ? rootName : Path.lastName(of: path)).map { ContainerOwner($0) }
            ?? Self.owner(ofFolder: nearest.map { folders[..<$0] } ?? folders[...])
        return Container(path: prefix + path, identifier: owner?.identifier, kind: owner?.kind)
    }

    private func nearestOwnedContainer(_ folder: Substring.UTF8View?, prefix: String) -> Container? {
        guard !owners.isEmpty else { return nil }
        var enclosing = folder ?? ""[...].utf8
        while true {
            let path = prefix + String(Substring(enclosing))
            if let owner = owners[path] {
                return Container(path: path, identifier: owner.identifier, kind: owner.kind)
            }
            guard !enclosing.isEmpty else { return nil }
            enclosing = enclosing[..<(enclosing.lastIndex(of: UInt8(ascii: "/")) ?? enclosing.startIndex)]
        }
    }

    /// Returns the owner of a folder in an extracted backup, or `nil` for any other folder.
    ///
    /// Such a folder has the same parent folders as a container on a phone, and the identifier of its owner as its
    /// name. On a phone, the name is a UUID, which contains no dots.
    ///
    /// Source: "iOS backups", section 11, L9.
    private static func owner(ofFolder folders: ArraySlice<Substring>) -> ContainerOwner? {
        guard let name = folders.last, name.contains(".") else { return nil }
        let place = containerFolders.first { folders.dropLast().suffix($0.folders.count).elementsEqual($0.folders) }
        return place.map { ContainerOwner(identifier: String(name), kind: $0.kind) }
    }

    private static let containerFolders: [(folders: [Substring], kind: Container.Kind)] = [
        (["Containers", "Data", "Application"], .app), (["Containers", "Shared", "AppGroup"], .group),
        (["Containers", "Data", "PluginKitPlugin"], .plugin), (["mobile", "Applications"], .app),
    ]
}

extension ContainerOwner {
    init(_ domain: BackupDomain) {
        let kind: Container.Kind =
            switch domain.kind {
            case .app: .app
            case .group: .group
            case .plugin: .plugin
            }
        self.init(identifier: domain.identifier, kind: kind)
    }
}
