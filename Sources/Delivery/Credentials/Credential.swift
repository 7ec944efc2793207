/// What an account's server wants to know from its senders. It says nothing of itself when it is printed.
public enum Credential: Sendable, Equatable, CustomStringConvertible, CustomReflectable {
    /// The server takes anybody's records.
    case none
    /// A Sift beacon key.
    case sift(beaconKey: String)
    /// A Leanplum application id, and its access key for the environment that the record comes from.
    case leanplum(appID: String, key: String)

    /// Only which kind it is.
    public var description: String {
        switch self {
        case .none: "no credential"
        case .sift: "a Sift beacon key"
        case .leanplum: "a Leanplum access key"
        }
    }

    /// Nothing to look into.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// A Leanplum application: its id and its access keys.
struct LeanplumApp: Sendable, Equatable, CustomStringConvertible, CustomReflectable {
    /// The application id, `app_…`.
    let id: String
    /// The access key for data of released apps.
    let productionKey: String?
    /// The access key for data of apps in development.
    let developmentKey: String?

    /// The id alone.
    var description: String { id }

    /// Nothing to look into.
    var customMirror: Mirror { Mirror(self, children: []) }
}
