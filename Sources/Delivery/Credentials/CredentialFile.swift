import Files
import JSONText
import Telemetry

/// A file with credentials, readable by its owner alone: an object with an entry for each system that has accounts, each an
/// object with an entry for each account, as the system's `CredentialFormat` says.
///
/// ```json
/// {"sift": {"<account id>": "<beacon key>"}, "leanplum": {"<app id>": {"productionKey": "…", "developmentKey": "…"}}}
/// ```
///
/// A key of the outer object that begins with `#` is a comment, whatever its value is.
public struct CredentialFile: Sendable {
    /// The values of accounts, by system.
    let accounts: [SystemName: CredentialFormat.Accounts]

    /// Reads a file.
    /// - Parameters:
    ///   - systems: those that may have credentials.
    ///   - protectedFolder: a folder that nobody else can look into, such as the one that systemd makes for a service, where the
    ///     modes of files say nothing.
    public init(path: String, knowing systems: SystemTable, protectedFolder: String? = nil) throws(CredentialError) {
        let isProtected =
            protectedFolder.map { !$0.isEmpty && path.hasPrefix($0 + "/") && !path.contains("/../") } ?? false
        let bytes = try OperatorFile.contents(of: path, isSecret: !isProtected)
        try self.init(bytes, path: path, knowing: systems)
    }

    /// Reads the contents of a file.
    /// - Throws: ``CredentialError``, which says where the fault is and never what stands there.
    public init(_ bytes: [UInt8], path: String, knowing systems: SystemTable) throws(CredentialError) {
        let document: JSONDocument
        do throws(JSONError) {
            document = try JSONDocument(bytes)
        } catch {
            throw .malformed(path, "no JSON at byte \(error.offset)")
        }
        accounts = try Parser(document: document, path: path, systems: systems).accounts()
    }

    /// Takes the accounts out of a document.
    private struct Parser {
        let document: JSONDocument
        let path: String
        let systems: SystemTable

        func accounts() throws(CredentialError) -> [SystemName: CredentialFormat.Accounts] {
            var accounts: [SystemName: CredentialFormat.Accounts] = [:]
            for (name, entries) in try members(of: document.root, "the file") where !name.hasPrefix("#") {
                guard let system = systems.name(name).flatMap({ systems[$0] }), let format = system.uploads.credentials
                else { throw .malformed(path, "\(name): only \(systemNames) have credentials") }
                var values: CredentialFormat.Accounts = [:]
                for (account, entry) in try members(of: entries, name) {
                    values[account] = try self.values(of: entry, of: account, format, "\(name).\(account)")
                }
                accounts[system.name] = values
            }
            return accounts
        }

        /// The systems that have credentials, in words.
        private var systemNames: String {
            systems.all.filter { $0.uploads.credentials != nil }.map(\.name.description).joined(separator: " and ")
        }

        private func values(of entry: JSONNode, of account: String, _ format: CredentialFormat, _ keyPath: String)
            throws(CredentialError) -> [String: String]
        {
            var values: [String: String] = [:]
            switch format.entry {
            case .text(let name): values[name] = try text(entry, keyPath)
            case .object(let keys):
                for (key, value) in try members(of: entry, keyPath) {
                    values[key] = try text(value, "\(keyPath).\(key)")
                }
                if let unknown = values.keys.filter({ !keys.contains($0) }).min() {
                    throw .malformed(path, "\(keyPath).\(unknown): no such key")
                }
            }
            switch format.complete(values, account) {
            case .success(let values): return values
            case .failure(let fault):
                throw .malformed(path, "\(keyPath)\(fault.key.isEmpty ? "" : ".\(fault.key)") \(fault.words)")
            }
        }

        private func members(of node: JSONNode, _ keyPath: String) throws(CredentialError) -> [(String, JSONNode)] {
            guard document.kind(of: node) == .object else { throw .malformed(path, "\(keyPath) is no object") }
            return (0..<document.memberCount(of: node)).map { position in
                let member = document.member(at: position, of: node)
                return (document.string(of: member.key), member.value)
            }
        }

        private func text(_ node: JSONNode, _ keyPath: String) throws(CredentialError) -> String {
            guard document.kind(of: node) == .string, document.string(of: node).isValidCredential else {
                throw .malformed(path, "\(keyPath) is no text of printable ASCII without spaces")
            }
            return document.string(of: node)
        }
    }
}
