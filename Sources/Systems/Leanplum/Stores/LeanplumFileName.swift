/// The kind of a Leanplum store, which is determined by the name of its file.
///
/// Source: "Leanplum (Mozilla MMA): stored requests and the `multi` upload", section A.1.
package enum LeanplumFileName: Equatable, Sendable {
    /// The database `__leanplum.sqlite` (generation 3).
    case database
    /// The file `_lprequests-<application id>` (generations 2a and 2b). The id is `nil` if the name is
    /// `_lprequests-(null)`.
    case requests(applicationID: String?)

    private static let databaseName = "__leanplum.sqlite"
    private static let requestsPrefix = "_lprequests-"
    /// The name suffixes of the journal and the write-ahead log of an SQLite database.
    static let companionSuffixes = ["-journal", "-wal"]

    /// Returns whether a file with this name is a store or belongs to one.
    package static func mayBelongToStore(_ name: String) -> Bool {
        LeanplumFileName(file: name) != nil || companionSuffixes.contains { name == databaseName + $0 }
    }

    /// Recognizes a store by its file name, or returns `nil` for any other name.
    ///
    /// The journal and the write-ahead log of a database are not recognized.
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
