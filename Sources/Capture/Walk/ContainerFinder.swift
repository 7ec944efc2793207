import Bytes
import DeviceBackup
import Files
import Telemetry

/// Whose container a folder is.
struct ContainerOwner {
    /// Bundle id of the app, or identifier of the group or the plugin.
    let identifier: String
    /// What it is; nil where only the identifier tells.
    var kind: Container.Kind?
}

/// Finds the container that a store belongs to, and the app that the container belongs to.
///
/// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", section 1.2.
struct ContainerFinder {
    /// The file by which iOS remembers whose container a folder is.
    static let metadataName = ".com.apple.mobile_container_manager.metadata.plist"

    /// The file beside a container that Xcode has packed, in which the identifier stands too.
    static let packageInfoName = "AppDataInfo.plist"
    /// What Xcode calls the container.
    static let packedName = "AppData"

    /// What such files, or the domains of backups, tell of a folder, by its path.
    let identifiers: [String: ContainerOwner]
    /// The capture, which knows the archive that a path leads into.
    let tree: FileTree
    /// The name of the root of the capture.
    let rootName: String

    /// The folder that was asked for last, and its container: many stores lie in one folder, and come together.
    private(set) var last: (folder: String, container: Container)?

    /// A container has such a file, or it is the folder in which the nearest `Documents` or `Library` lies, or else the
    /// one that the store lies in.
    mutating func container(of storePath: String) -> Container {
        let prefix = tree.part(of: storePath)?.prefix ?? ""
        let inside = storePath.utf8.dropFirst(prefix.utf8.count)
        let slash = inside.lastIndex(of: UInt8(ascii: "/"))
        let folder = String(storePath[..<(slash ?? inside.startIndex)])
        if let last, last.folder.utf8.span.equals(folder.utf8.span) { return last.container }
        let found = container(ofFolder: slash.map { inside[..<$0] }, prefix: prefix)
        last = (folder, found)
        return found
    }

    /// - Parameter folder: The path in the capture, or in the archive with `prefix`. `nil` is the root.
    private func container(ofFolder folder: Substring.UTF8View?, prefix: String) -> Container {
        if let owned = owned(folder, prefix: prefix) { return owned }
        let rootName = prefix.isEmpty ? rootName : ArchivePlace.rootName(of: String(prefix.dropLast()))
        // Told by bytes, like all names of a path: a slash can make one character with what follows it.
        let parts = folder?.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) ?? []
        let folders = parts.map { Substring($0) }
        let nearest = folders.lastIndex { $0 == "Documents" || $0 == "Library" }
        let path = (nearest.map { folders[..<$0] } ?? folders[...]).joined(separator: "/")
        let owner =
            Self.owner(fromDomain: path.isEmpty ? rootName : Path.lastName(of: path))
            ?? Self.owner(ofFolder: nearest.map { folders[..<$0] } ?? folders[...])
        return Container(path: prefix + path, identifier: owner?.identifier, kind: owner?.kind)
    }

    /// The nearest folder around that is known to be somebody's container.
    private func owned(_ folder: Substring.UTF8View?, prefix: String) -> Container? {
        guard !identifiers.isEmpty else { return nil }
        var around = folder ?? ""[...].utf8
        while true {
            let path = prefix + String(Substring(around))
            if let owner = identifiers[path] {
                return Container(path: path, identifier: owner.identifier, kind: owner.kind)
            }
            guard !around.isEmpty else { return nil }
            around = around[..<(around.lastIndex(of: UInt8(ascii: "/")) ?? around.startIndex)]
        }
    }

    /// Backups, and what unpacks them, name containers by their domains.
    private static func owner(fromDomain name: String) -> ContainerOwner? {
        BackupDomain(name: name).map { ContainerOwner($0) }
    }

    /// What unpacks a backup as it lay on the phone names containers for whose they are. The phone itself gives them a UUID, which has no dot.
    ///
    /// Source: "iOS backups", section 11, L9.
    private static func owner(ofFolder folders: ArraySlice<Substring>) -> ContainerOwner? {
        guard let name = folders.last, name.contains(".") else { return nil }
        let place = places.first { folders.dropLast().suffix($0.folders.count).elementsEqual($0.folders) }
        return place.map { ContainerOwner(identifier: String(name), kind: $0.kind) }
    }

    private static let places: [(folders: [Substring], kind: Container.Kind)] = [
        (["Containers", "Data", "Application"], .app), (["Containers", "Shared", "AppGroup"], .group),
        (["Containers", "Data", "PluginKitPlugin"], .plugin), (["mobile", "Applications"], .app),
    ]
}

extension ContainerOwner {
    /// Whose container a domain of a backup is.
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
