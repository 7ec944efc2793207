/// Where the items of a Leanplum store come from, as far as records tell of it.
public struct LeanplumPlace: Sendable {
    /// The label of the capture.
    public var capture: String
    /// The file's path in the capture.
    public var path: String
    /// The kind of store.
    public var store: StoreKind
    /// The application id (`app_…`), where the name of the file or of a key in it tells it.
    public var applicationID: String?

    /// Makes a place.
    public init(capture: String, path: String, store: StoreKind, applicationID: String? = nil) {
        self.capture = capture
        self.path = path
        self.store = store
        self.applicationID = applicationID
    }

    func source(index: Int) -> Source {
        Source(capture: capture, path: path, store: store, index: index)
    }
}

/// What the name of a file tells about the Leanplum store that it is.
///
/// Source: "Leanplum (Mozilla MMA): stored requests and the `multi` upload", section A.1.
public enum LeanplumName: Equatable, Sendable {
    /// `__leanplum.sqlite` (generation 3).
    case database
    /// `_lprequests-<application id>` (generations 2a and 2b); the id is nil in the literal name `_lprequests-(null)`.
    case requests(applicationID: String?)

    private static let databaseName = "__leanplum.sqlite"
    private static let requestsPrefix = "_lprequests-"
    /// What SQLite appends to the name of a database for the files that belong to it.
    public static let companionSuffixes = ["-journal", "-wal"]

    /// Whether a file is a store, or belongs to one.
    public static func mayBelongToStore(_ name: String) -> Bool {
        LeanplumName(file: name) != nil || companionSuffixes.contains { name == databaseName + $0 }
    }

    /// Tells a store by its name; nil for any other file, the companions of the database among them.
    public init?(file name: String) {
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

extension Target {
    /// Where a Leanplum request goes by default; apps can name another host and path, which no store tells.
    static let leanplum = Target(path: "/api")
}
