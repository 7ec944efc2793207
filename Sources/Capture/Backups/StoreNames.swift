import Files
import Telemetry

/// Which rows of a backup are worth keeping, and which files are stores by their names alone.
///
/// Source: "iOS backups", section 6.
struct StoreNames {
    let formats: [StoreFormat]

    /// What SQLite puts behind the names of databases.
    private static let companionSuffixes = ["-wal", "-journal", "-shm"]

    /// Returns the names that lead to a row. The parts of `path`, which begins below the container, were checked before.
    static func member(_ path: [UInt8], in domain: String) -> MemberName {
        var folders: [String] = []
        var start = 0
        for (index, byte) in path.enumerated() where byte == UInt8(ascii: "/") {
            folders.append(String(decoding: path[start..<index], as: UTF8.self))
            start = index + 1
        }
        return MemberName(name: String(decoding: path[start...], as: UTF8.self), folders: folders, rootName: domain)
    }

    /// Whether a file may belong to a store. Hidden ones never do.
    func mayBelong(_ file: MemberName) -> Bool {
        file.name.utf8.first != UInt8(ascii: ".") && formats.contains { $0.mayBelongToStore(file) }
    }

    /// Whether a folder is named like one of pings: whatever lies in it belongs to a store.
    func isPingFolder(_ folder: MemberName) -> Bool {
        mayBelong(MemberName(name: "-", folders: folder.folders + [folder.name], rootName: folder.rootName))
    }

    /// Whether something is named like a store, as a link may be.
    func isNamed(_ name: String) -> Bool { formats.contains { $0.isNamedForStore?(name, nil) ?? false } }

    /// Whether a file is a store by its name, or belongs to one by that of its folder; of others only the contents tell.
    func isStoreByName(_ path: [UInt8]) -> Bool {
        var parts = path.split(separator: UInt8(ascii: "/")).map { Array($0) }
        if let last = parts.last, let suffix = Self.companionSuffixes.first(where: { Self.ends(last, with: $0) }) {
            parts.append(Array(last.dropLast(suffix.utf8.count)))
        }
        return parts.contains { isNamed(String(decoding: $0, as: UTF8.self)) }
    }

    private static func ends(_ name: [UInt8], with suffix: String) -> Bool {
        name.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
    }

    /// Whether an app keeps its pings where no backup looks.
    func isAbsent(_ applicationID: String, beside stores: [any Store]) -> Bool {
        formats.contains { $0.backups?.concerns(applicationID, beside: stores) ?? false }
    }
}
