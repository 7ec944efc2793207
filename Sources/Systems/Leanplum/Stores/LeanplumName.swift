/// The kind of Leanplum store that a file is, as its name tells.
///
/// Source: "Leanplum (Mozilla MMA): stored requests and the `multi` upload", section A.1.
package enum LeanplumName: Equatable, Sendable {
    /// `__leanplum.sqlite` (generation 3).
    case database
    /// `_lprequests-<application id>` (generations 2a and 2b); the id is nil in the literal name `_lprequests-(null)`.
    case requests(applicationID: String?)

    private static let databaseName = "__leanplum.sqlite"
    private static let requestsPrefix = "_lprequests-"
    /// The endings by which SQLite names the files that belong to a database: its journal and its write-ahead log.
    static let companionSuffixes = ["-journal", "-wal"]

    /// Whether a file is a store, or belongs to one.
    package static func mayBelongToStore(_ name: String) -> Bool {
        LeanplumName(file: name) != nil || companionSuffixes.contains { name == databaseName + $0 }
    }

    /// Recognizes a store by its name; nil for any other file, the companions of the database among them.
    package init?(file name: String) {
        if name == Self.databaseName {
            self = .database
        } else if name.hasPrefix(Self.requestsPrefix), name.utf8.count > Self.requestsPrefix.utf8.count {
            let id = String(name.dropFirst(Self.requestsPrefix.count))
            self = .requests(applicationID: id == "(null)" ? nil : id)
        } else {
            return nil
        }
    }
}
