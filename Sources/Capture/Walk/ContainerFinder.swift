import Files
import Telemetry

/// Finds the container that a store belongs to, and the app that the container belongs to.
///
/// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", section 1.2.
struct ContainerFinder {
    /// The file by which iOS remembers whose container a folder is.
    static let metadataName = ".com.apple.mobile_container_manager.metadata.plist"

    /// Identifiers from such files, by the path of their folder.
    let identifiers: [String: String]
    /// The capture, which knows the archive that a path leads into.
    let tree: FileTree
    /// The name of the root of the capture.
    let rootName: String

    /// The container of the stores in a folder, by the path of the folder: many lie in one.
    private var known: [String: Container] = [:]

    init(identifiers: [String: String], tree: FileTree, rootName: String) {
        self.identifiers = identifiers
        self.tree = tree
        self.rootName = rootName
    }

    /// A container has such a file, or it is the folder in which the nearest `Documents` or `Library` lies, or else the
    /// one that the store lies in.
    mutating func container(of storePath: String) -> Container {
        let prefix = tree.part(of: storePath)?.prefix ?? ""
        let inside = storePath.utf8.dropFirst(prefix.utf8.count)
        let slash = inside.lastIndex(of: UInt8(ascii: "/"))
        let folder = String(storePath[..<(slash ?? inside.startIndex)])
        if let container = known[folder] { return container }
        let container = container(ofFolder: slash.map { inside[..<$0] }, prefix: prefix)
        known[folder] = container
        return container
    }

    /// - Parameters:
    ///   - folder: the path of the folder in the capture or archive; nil for its root.
    ///   - prefix: what paths of the archive begin with.
    private func container(ofFolder folder: Substring.UTF8View?, prefix: String) -> Container {
        let rootName = prefix.isEmpty ? rootName : ArchivePlace.rootName(of: String(prefix.dropLast()))
        let folders = folder.map { Substring($0).split(separator: "/", omittingEmptySubsequences: false) } ?? []
        if !identifiers.isEmpty {
            for length in stride(from: folders.count, through: 0, by: -1) {
                let path = prefix + folders[..<length].joined(separator: "/")
                if let identifier = identifiers[path] { return Container(path: path, identifier: identifier) }
            }
        }
        let nearest = folders.lastIndex { $0 == "Documents" || $0 == "Library" }
        let path = (nearest.map { folders[..<$0] } ?? folders[...]).joined(separator: "/")
        return Container(
            path: prefix + path,
            identifier: Self.identifier(fromDomain: path.isEmpty ? rootName : CapturedFolder.lastPart(of: path)))
    }

    /// Backups name containers `AppDomain-<bundle id>` and `AppDomainGroup-<group>`.
    private static func identifier(fromDomain name: String) -> String? {
        for prefix in ["AppDomainGroup-", "AppDomain-"] where name.hasPrefix(prefix) && name.count > prefix.count {
            return String(name.dropFirst(prefix.count))
        }
        return nil
    }
}
