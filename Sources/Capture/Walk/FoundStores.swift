import Bytes
import DeviceBackup
import Files
import Telemetry

/// A store in a capture, and its container.
public struct FoundStore: Sendable {
    /// The store as recognized by its system.
    public let store: any Store
    private let found: FoundContainer

    fileprivate init(_ store: any Store, in container: FoundContainer) {
        self.store = store
        found = container
    }

    /// The path relative to the root of the capture, without a trailing slash.
    public var path: String { store.path }
    /// The container of the store.
    public var container: Container { found.container }
    /// The index of the container among the containers with stores, in the order of their first stores.
    public var containerNumber: Int { found.number }
    /// All stores in the container, including the store itself.
    var neighbors: ContainerStores { found.stores }
}

/// A container with stores, implemented as a class because all its stores share it.
private final class FoundContainer: Sendable {
    let container: Container
    let number: Int
    let stores: ContainerStores

    init(_ container: Container, number: Int, _ stores: [any Store]) {
        self.container = container
        self.number = number
        self.stores = ContainerStores(stores)
    }
}

extension [FoundStore] {
    /// Sorts `stores` by the UTF-8 bytes of their paths, and finds their containers.
    ///
    /// `container` returns the container of the store at a path.
    init(_ stores: [any Store], findingContainers container: (String) -> Container) {
        let sorted = stores.sorted { left, right in
            let order = left.path.utf8.span.ordered(against: right.path.utf8.span)
            // One file can be a store of two systems.
            return order == 0 ? left.kind.description < right.kind.description : order < 0
        }
        var groups: [(container: Container, stores: [any Store])] = []
        var numbers: [Int] = []
        // Once a store is outside of a container, all following stores are outside of it, too.
        var open: [Int] = []
        for store in sorted {
            let path = store.path
            let own = container(path)
            while let last = open.last, !path.utf8.starts(with: groups[last].container.path.utf8) { open.removeLast() }
            let known = open.last { groups[$0].container == own }
            let number = known ?? groups.count
            if known == nil {
                open.append(number)
                groups.append((own, []))
            }
            groups[number].stores.append(store)
            numbers.append(number)
        }
        let containers = groups.enumerated().map { FoundContainer($1.container, number: $0, $1.stores) }
        self = zip(sorted, numbers).map { FoundStore($0, in: containers[$1]) }
    }

    /// The number of containers with stores.
    public var containerCount: Int { (map(\.containerNumber).max() ?? -1) + 1 }

    /// Returns the indices of the stores at `path`, which may be several if systems share a file.
    public func indices(at path: String) -> Range<Int> {
        let first = indices.partitioningIndex { self[$0].path.utf8.lexicographicallyFollowsOrEquals(path.utf8) }
        let end = self[first...].firstIndex { !$0.path.utf8.elementsEqual(path.utf8) } ?? endIndex
        return first..<end
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
        return kindOfContainer(in: folders).map { ContainerOwner(identifier: String(name), kind: $0) }
    }

    /// Returns the kind of container that a folder is because of its parent folders, or `nil` if it is none.
    static func kindOfContainer(in folders: ArraySlice<Substring>) -> Container.Kind? {
        containerFolders.first { folders.dropLast().suffix($0.folders.count).elementsEqual($0.folders) }?.kind
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
