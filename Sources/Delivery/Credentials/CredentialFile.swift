import Files
import JSONText

/// A file with credentials, readable by its owner alone:
/// `{"sift":{"<account id>":"<beacon key>"},"leanplum":{"<app id>":{"productionKey":…,"developmentKey":…}}}`. The app `*`, for
/// records that name none, needs an `appId`; any other may have one, if the record names the app by another word.
public struct CredentialFile: Sendable {
    /// Sift beacon keys by account id.
    let beaconKeys: [String: String]
    /// Leanplum applications by the app id of records.
    let apps: [String: LeanplumApp]

    /// Reads a file.
    /// - Parameter guarded: a folder that nobody else can look into, such as the one that systemd makes for a service, where
    ///   the modes of files say nothing.
    /// - Throws: ``CredentialError``.
    public init(path: String, guarded: String? = nil) throws(CredentialError) {
        let isGuarded = guarded.map { !$0.isEmpty && path.hasPrefix($0 + "/") && !path.contains("/../") } ?? false
        let bytes = try OperatorFile.contents(of: path, isSecret: !isGuarded)
        try self.init(bytes, path: path)
    }

    /// Reads the contents of a file.
    /// - Throws: ``CredentialError``, which says where the fault is and never what stands there.
    public init(_ bytes: [UInt8], path: String) throws(CredentialError) {
        let document: JSONDocument
        do throws(JSONError) {
            document = try JSONDocument(bytes)
        } catch {
            throw .malformed(path, "no JSON at byte \(error.offset)")
        }
        var reader = Reader(document: document, path: path)
        try reader.read()
        beaconKeys = reader.beaconKeys
        apps = reader.apps
    }

    /// Takes the accounts out of a document.
    private struct Reader {
        let document: JSONDocument
        let path: String
        var beaconKeys: [String: String] = [:]
        var apps: [String: LeanplumApp] = [:]

        mutating func read() throws(CredentialError) {
            for (system, accounts) in try members(of: document.root, "the file") {
                switch system {
                case "sift":
                    for (account, key) in try members(of: accounts, "sift") {
                        beaconKeys[account] = try text(key, "sift.\(account)")
                    }
                case "leanplum":
                    for (app, keys) in try members(of: accounts, "leanplum") {
                        apps[app] = try application(keys, named: app)
                    }
                default: throw .malformed(path, "\(system): only sift and leanplum have credentials")
                }
            }
        }

        private func application(_ node: JSONNode, named name: String) throws(CredentialError) -> LeanplumApp {
            let place = "leanplum.\(name)"
            var texts: [String: String] = [:]
            for (key, value) in try members(of: node, place) { texts[key] = try text(value, "\(place).\(key)") }
            let unknown = texts.keys.filter { !["appId", "productionKey", "developmentKey"].contains($0) }.sorted()
            if let key = unknown.first { throw .malformed(path, "\(place).\(key): no such key") }
            guard let id = texts["appId"] ?? (name == Credentials.anyApp ? nil : name) else {
                throw .malformed(path, "\(place).appId missing")
            }
            return LeanplumApp(id: id, productionKey: texts["productionKey"], developmentKey: texts["developmentKey"])
        }

        private func members(of node: JSONNode, _ place: String) throws(CredentialError) -> [(String, JSONNode)] {
            guard document.kind(of: node) == .object else { throw .malformed(path, "\(place) is no object") }
            return (0..<document.memberCount(of: node)).map { position in
                let member = document.member(at: position, of: node)
                return (document.string(of: member.key), member.value)
            }
        }

        private func text(_ node: JSONNode, _ place: String) throws(CredentialError) -> String {
            guard document.kind(of: node) == .string, document.string(of: node).isCredential else {
                throw .malformed(path, "\(place) is no text of printable ASCII without spaces")
            }
            return document.string(of: node)
        }
    }
}
