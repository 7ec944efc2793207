import Telemetry

/// The credentials that an operator gave, in a file and in the environment, which has the last word.
public struct Credentials: Sendable {
    private var beaconKeys: [String: String] = [:]
    private var apps: [String: LeanplumApp] = [:]

    /// The name of a Leanplum app that stands for every app.
    static let anyApp = "*"

    /// No credentials.
    public init() {}

    /// Takes the credentials of a file, then those of the environment.
    ///
    /// - `PINGFERRY_SIFT_KEY_<account id>`: the beacon key of an account.
    /// - `PINGFERRY_LEANPLUM_APP_ID`, `PINGFERRY_LEANPLUM_PRODUCTION_KEY`, `PINGFERRY_LEANPLUM_DEVELOPMENT_KEY`: the
    ///   application of records that name it, and of those that name none.
    /// - Throws: ``CredentialError`` if a key is not one line of printable ASCII.
    public init(file: CredentialFile?, environment: [String: String]) throws(CredentialError) {
        beaconKeys = file?.beaconKeys ?? [:]
        apps = file?.apps ?? [:]
        for (name, value) in environment where name.hasPrefix(Self.siftPrefix) && !value.isEmpty {
            guard value.isCredential else { throw .badKey(name) }
            beaconKeys[String(name.dropFirst(Self.siftPrefix.count))] = value
        }
        guard let id = environment[Self.appID], !id.isEmpty else { return }
        let (production, development) = (environment[Self.productionKey], environment[Self.developmentKey])
        for (name, value) in [(Self.appID, id), (Self.productionKey, production), (Self.developmentKey, development)] {
            guard value?.isCredential ?? true else { throw .badKey(name) }
        }
        for name in [id, Self.anyApp] {
            let known = apps[name].flatMap { $0.id == id ? $0 : nil }
            apps[name] = LeanplumApp(
                id: id, productionKey: production ?? known?.productionKey,
                developmentKey: development ?? known?.developmentKey)
        }
    }

    /// The credential of an account; nil if none was given.
    public func credential(for account: Account) -> Credential? {
        switch account.system {
        case .mozilla, .activityStream: return Credential.none
        case .sift: return beaconKeys[account.name].map { .sift(beaconKey: $0) }
        case .leanplum:
            guard let app = app(named: account.name) else { return nil }
            let key = account.isDevelopment ? app.developmentKey : app.productionKey
            return key.map { .leanplum(appID: app.id, key: $0) }
        }
    }

    /// The application of records that name an app, or none. No record goes to another application than the one it names.
    private func app(named name: String) -> LeanplumApp? {
        if let app = apps[name] { return app }
        guard let app = apps[Self.anyApp], name.isEmpty || name == app.id else { return nil }
        return app
    }

    /// Whether an account has a credential.
    public func isKnown(_ account: Account) -> Bool { credential(for: account) != nil }

    /// What to set so that an account has a credential, in words.
    public func nameToSet(_ account: Account) -> String {
        switch account.system {
        case .mozilla, .activityStream:
            return "nothing"
        case .sift:
            let entry = "\"sift\": {\"\(account.name)\": …} in the credentials file"
            return account.name.isVariableName ? "\(Self.siftPrefix)\(account.name), or \(entry)" : entry
        case .leanplum:
            let variable = account.isDevelopment ? Self.developmentKey : Self.productionKey
            let key = account.isDevelopment ? "developmentKey" : "productionKey"
            guard !account.name.isEmpty else {
                return "\(Self.appID) and \(variable), or \"leanplum\": {\"\(Self.anyApp)\": "
                    + "{\"appId\": …, \"\(key)\": …}} in the credentials file"
            }
            return "\(Self.appID)=\(account.name) and \(variable), or \"leanplum\": {\"\(account.name)\": "
                + "{\"\(key)\": …}} in the credentials file"
        }
    }

    private static let siftPrefix = "PINGFERRY_SIFT_KEY_"
    private static let appID = "PINGFERRY_LEANPLUM_APP_ID"
    private static let productionKey = "PINGFERRY_LEANPLUM_PRODUCTION_KEY"
    private static let developmentKey = "PINGFERRY_LEANPLUM_DEVELOPMENT_KEY"
}

extension String {
    /// Whether the text can be a key: printable ASCII without spaces, not empty.
    var isCredential: Bool { !isEmpty && utf8.allSatisfy { (0x21..<0x7F).contains($0) } }

    /// Whether a shell can have a variable whose name ends so.
    fileprivate var isVariableName: Bool {
        !isEmpty
            && utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }
}
