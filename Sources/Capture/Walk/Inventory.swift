import Bytes
import DeviceBackup
import Telemetry

/// A container in a capture: its stores, and the queues of SDKs whose data is not read.
public struct InventoryEntry: Sendable {
    /// The queue of an SDK whose data is not read, recognized by the names of its files and folders.
    public struct OtherQueue: Sendable {
        /// The name of the SDK.
        public let sdk: String
        /// The path of the first file or folder of the queue, in the order of the UTF-8 bytes of the paths.
        public let path: String
        /// The number of files and folders with a name of the queue.
        public fileprivate(set) var entryCount: Int
    }

    /// The container and its owner.
    public let container: Container
    /// The number of stores of known systems in the container.
    public fileprivate(set) var storeCount = 0
    /// The systems of the stores.
    public fileprivate(set) var systems: Set<CapturedText> = []
    /// The queues of other SDKs, sorted by their paths.
    public fileprivate(set) var otherQueues: [OtherQueue] = []
}

/// The containers, and the files and folders of other SDKs, that a search found by their names.
struct InventoryFindings: Sendable {
    /// The path prefixes of the entries of containers, which are empty or end with `/` or with the `!` of an archive.
    private(set) var containerPrefixes: [String] = []
    private(set) var otherQueues: [(sdk: String, path: String)] = []
    /// The number of rows of backup manifests that are not listed because of a limit.
    private(set) var omittedRowCount = 0

    mutating func add(_ other: InventoryFindings) {
        containerPrefixes += other.containerPrefixes
        otherQueues += other.otherQueues
    }

    /// Adds the queues in the backup whose path prefix is `prefix`.
    mutating func add(_ backup: BackupInventory, prefix: String) {
        omittedRowCount += backup.omittedRowCount
        for (sdk, path) in backup.otherQueues { addQueue(of: sdk, at: prefix + path) }
    }

    mutating func addContainer(prefix: String) { containerPrefixes.append(prefix) }

    mutating func addQueue(of sdk: String, at path: String) { otherQueues.append((sdk, path)) }

    /// Adds the entries called `names` if they are queues of other SDKs.
    mutating func addQueues(
        among names: [[UInt8]], areFolders: Bool, inFolder folder: String, prefix: String
    ) {
        for name in names {
            guard let sdk = OtherSDK.name(ofEntry: name, isFolder: areFolders, in: folder.utf8) else { continue }
            addQueue(of: sdk, at: prefix + String(decoding: name, as: UTF8.self))
        }
    }

    /// Returns the containers with these findings and the containers of `stores`, sorted by their paths.
    ///
    /// A folder in another container is a container only if it has a known owner or a store.
    func entries(_ stores: [FoundStore], _ containers: inout ContainerFinder) -> [InventoryEntry] {
        var entries: [Container: InventoryEntry] = [:]
        for found in stores {
            guard let system = found.store.system else { continue }
            entries[found.container, default: InventoryEntry(container: found.container)].storeCount += 1
            entries[found.container]?.systems.insert(CapturedText(system.description))
        }
        for container in containers.ownedContainers where entries[container] == nil {
            entries[container] = InventoryEntry(container: container)
        }
        var outer: String?
        for prefix in containerPrefixes.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
            if let outer,
                ContainerFinder.dataFolderNames.contains(where: { prefix.utf8.starts(with: "\(outer)\($0)/".utf8) })
            {
                continue
            }
            outer = prefix
            let container = containers.container(of: "\(prefix)Documents/-")
            if entries[container] == nil { entries[container] = InventoryEntry(container: container) }
        }
        for (sdk, path) in otherQueues.sorted(by: { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }) {
            let container = containers.container(of: path)
            var entry = entries[container] ?? InventoryEntry(container: container)
            if let known = entry.otherQueues.firstIndex(where: { $0.sdk == sdk }) {
                entry.otherQueues[known].entryCount += 1
            } else {
                entry.otherQueues.append(InventoryEntry.OtherQueue(sdk: sdk, path: path, entryCount: 1))
            }
            entries[container] = entry
        }
        return entries.values.sorted { $0.container.path.utf8.lexicographicallyPrecedes($1.container.path.utf8) }
    }
}

/// The containers of a backup, and the files and folders of other SDKs in it, judged by the rows of its manifest.
struct BackupInventory {
    /// The containers, by the names of their backup domains.
    private(set) var domains: [CapturedText: BackupDomain] = [:]
    /// The files and folders of other SDKs, with their paths relative to the folder of the backup.
    private(set) var otherQueues: [(sdk: String, path: String)] = []
    /// The number of rows whose container, file or folder is not listed because of the limit.
    private(set) var omittedRowCount = 0
    private var lastDomain: BackupDomain?
    private let limit: Int

    /// Creates an empty inventory of at most `limit` containers, and as many files and folders of other SDKs.
    init(limit: Int = InputLimits.inventoryEntryCount) { self.limit = limit }

    /// Adds the container of `row`, and its file or folder if the name is that of a queue.
    mutating func add(_ row: ManifestRow, in domain: BackupDomain) {
        if lastDomain != domain, domains[domain.name] == nil {
            guard domains.count < limit else {
                omittedRowCount += 1
                return
            }
            domains[domain.name] = domain
        }
        lastDomain = domain
        let parts = row.path.split(separator: UInt8(ascii: "/"))
        guard let name = parts.last else { return }
        let kind = RowKind(flags: row.flags)
        guard kind != .link,
            let sdk = OtherSDK.name(
                ofEntry: Array(name), isFolder: kind.map { $0 == .folder }, in: parts.dropLast().last ?? [])
        else { return }
        guard otherQueues.count < limit else {
            omittedRowCount += 1
            return
        }
        otherQueues.append((sdk, "\(domain.name)/\(String(decoding: row.path, as: UTF8.self))"))
    }
}

extension ContainerFinder {
    /// The names of the folders that every app container has.
    static let dataFolderNames = ["Documents", "Library"]

    /// Returns whether the folder at `path` is the container of an app, judged by its path and its subfolders.
    ///
    /// A folder with subfolders like those of a container is not a container if it contains all containers of a phone.
    static func isContainer(_ path: String, subfolders: [[UInt8]]) -> Bool {
        let folders = path.utf8.split(separator: UInt8(ascii: "/")).map { Substring($0) }
        if !folders.isEmpty && kindOfContainer(in: folders[...]) != nil
            || folders.last.flatMap({ BackupDomain(name: String($0)) }) != nil
        {
            return true
        }
        func hasSubfolder(_ name: String) -> Bool { subfolders.contains { $0.elementsEqual(name.utf8) } }
        return dataFolderNames.allSatisfy(hasSubfolder) && !hasSubfolder("Containers")
    }

    /// The containers with known owners, in no particular order.
    var ownedContainers: [Container] {
        owners.map { Container(path: $0.key.string, identifier: $0.value.identifier, kind: $0.value.kind) }
    }
}
