import Files
import Telemetry

/// Which rows of a backup are worth keeping, and which files are stores by their names alone.
///
/// Source: "iOS backups", section 6.
struct StoreNames {
    private let formats: [any StoreFormat]

    /// What SQLite puts behind the names of databases.
    private static let companionSuffixes = ["-wal", "-journal", "-shm"]

    init(_ formats: [any StoreFormat]) {
        self.formats = formats
    }

    /// Whether a file may belong to a store.
    /// - Parameters:
    ///   - path: the path below the container.
    ///   - domain: the name of the container.
    func mayBelong(_ path: [UInt8], in domain: String) -> Bool {
        guard let member = try? MemberPath(path), member.split.name.first != UInt8(ascii: ".") else { return false }
        return MemberNames.mayBelongToStore(member, rootName: domain, formats)
    }

    /// Whether a folder is named like one of pings: whatever lies in it belongs to a store.
    func isPingFolder(_ path: [UInt8], in domain: String) -> Bool { mayBelong(path + Array("/-".utf8), in: domain) }

    /// Whether something is named like a store, as a link may be.
    func isNamed(_ name: some Sequence<UInt8>) -> Bool {
        let name = String(decoding: Array(name), as: UTF8.self)
        return formats.contains { $0.isNamedForStore(name, in: nil) }
    }

    /// Whether a file is a store by its name, or belongs to one by that of its folder; of others only the contents tell.
    func isStoreByName(_ path: [UInt8]) -> Bool {
        var parts = path.split(separator: UInt8(ascii: "/")).map { Array($0) }
        if let last = parts.last, let suffix = Self.companionSuffixes.first(where: { Self.ends(last, with: $0) }) {
            parts.append(Array(last.dropLast(suffix.utf8.count)))
        }
        return parts.contains { isNamed($0) }
    }

    private static func ends(_ name: [UInt8], with suffix: String) -> Bool {
        name.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
    }

    /// Whether an app keeps its pings where no backup looks.
    func isAbsent(_ applicationID: String, beside stores: [any Store]) -> Bool {
        formats.contains { $0.isAbsentFromBackups(applicationID, beside: stores) }
    }
}
