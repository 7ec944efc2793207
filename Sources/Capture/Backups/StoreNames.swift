import Files
import Telemetry

/// The rules that determine by name which rows of a backup are kept, and which files are stores.
///
/// Source: "iOS backups", section 6.
struct StoreNames {
    let formats: [StoreFormat]

    /// The suffixes of the files that SQLite stores next to a database.
    private static let companionSuffixes = ["-wal", "-journal", "-shm"]

    /// Returns the names of a file and its folders.
    ///
    /// `path` is the validated path relative to the container.
    static func memberName(forPath path: [UInt8], inDomain domain: String) -> MemberName {
        var folders: [String] = []
        var start = 0
        for (index, byte) in path.enumerated() where byte == UInt8(ascii: "/") {
            folders.append(String(decoding: path[start..<index], as: UTF8.self))
            start = index + 1
        }
        return MemberName(name: String(decoding: path[start...], as: UTF8.self), folders: folders, rootName: domain)
    }

    /// Returns whether a file may belong to a store.
    ///
    /// Hidden files never belong to a store.
    func mayBelongToStore(_ file: MemberName) -> Bool {
        file.name.utf8.first != UInt8(ascii: ".") && formats.contains { $0.mayBelongToStore(file) }
    }

    /// Returns whether `folder` has the name of a ping folder, so that files of any name in it may belong to a store.
    func isPingFolder(_ folder: MemberName) -> Bool {
        mayBelongToStore(MemberName(name: "-", folders: folder.folders + [folder.name], rootName: folder.rootName))
    }

    /// Returns whether a file or link with this name may be a store.
    func isStoreName(_ name: String) -> Bool { formats.contains { $0.isNamedForStore?(name, nil) ?? false } }

    /// Returns whether any component of `path` is the name of a store.
    ///
    /// The last component may have the suffix of a file that SQLite stores next to a database.
    func hasStoreName(_ path: [UInt8]) -> Bool {
        var parts = path.split(separator: UInt8(ascii: "/")).map { Array($0) }
        if let last = parts.last, let suffix = Self.companionSuffixes.first(where: { Self.hasSuffix(last, $0) }) {
            parts.append(Array(last.dropLast(suffix.utf8.count)))
        }
        return parts.contains { isStoreName(String(decoding: $0, as: UTF8.self)) }
    }

    private static func hasSuffix(_ name: [UInt8], _ suffix: String) -> Bool {
        name.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
    }

    /// Returns whether `stores` lack the stores of an app because backups do not include them.
    func areStoresMissing(of applicationID: String, among stores: [any Store]) -> Bool {
        formats.contains { $0.backups?.concerns(applicationID, beside: stores) ?? false }
    }
}
