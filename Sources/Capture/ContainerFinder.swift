import Telemetry

/// Tells which container a store belongs to, and whose it is.
///
/// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", section 1.2.
struct ContainerFinder {
    /// The file by which iOS remembers whose container a folder is.
    static let metadataName = ".com.apple.mobile_container_manager.metadata.plist"

    /// Identifiers from such files, by the path of their folder.
    let identifiers: [String: String]
    /// Tells which archive in the capture a path leads into.
    let tree: CaptureTree
    /// The name of the root of the capture.
    let rootName: String

    /// A container has such a file, or it is the folder in which the nearest `Documents` or `Library` lies, or else the
    /// one that the store lies in.
    func container(of storePath: String) -> Container {
        let prefix = tree.part(of: storePath)?.prefix ?? ""
        let rootName = prefix.isEmpty ? rootName : ArchivePlace.rootName(of: String(prefix.dropLast()))
        let parts = storePath.dropFirst(prefix.count).split(separator: "/", omittingEmptySubsequences: false)
            .map(String.init)
        for length in stride(from: parts.count - 1, through: 0, by: -1) {
            let path = prefix + parts[..<length].joined(separator: "/")
            if let identifier = identifiers[path] { return Container(path: path, identifier: identifier) }
        }
        let folders = parts.dropLast()
        let nearest = folders.lastIndex { $0 == "Documents" || $0 == "Library" }
        let path = (nearest.map { folders[..<$0] } ?? folders).joined(separator: "/")
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
