import Bytes
import Files
import JSONText
import Telemetry

/// A JSON file that contains the credentials of accounts.
///
/// The outer object has a member for each system. The value of each member is an object with an entry for each account.
/// The `CredentialFormat` of the system defines the form of an entry.
///
/// ```json
/// {"sift": {"<account id>": "<beacon key>"}, "leanplum": {"<app id>": {"productionKey": "…", "developmentKey": "…"}}}
/// ```
///
/// Members of the outer object whose name begins with `#` are comments and are ignored.
public struct CredentialFile: Sendable {
    let accounts: [SystemName: CredentialFormat.Accounts]

    /// Reads the credentials file at `path`.
    ///
    /// Only the owner may have access to the file, unless it is in `protectedFolder`.
    public init(path: String, knowing systems: SystemTable, protectedFolder: String? = nil) throws(CredentialError) {
        let bytes = try OperatorFile.secret(in: path, protectedFolder: protectedFolder)
        try self.init(bytes, path: path, knowing: systems)
    }

    /// Parses `bytes`, the contents of the credentials file at `path`.
    public init(_ bytes: [UInt8], path: String, knowing systems: SystemTable) throws(CredentialError) {
        let document: JSONDocument
        do throws(JSONError) {
            document = try JSONDocument(bytes)
        } catch {
            throw .malformed(path, "invalid JSON at byte \(error.offset)")
        }
        accounts = try Parser(document: document, path: path, systems: systems).accounts()
    }

    /// A parser for credentials files whose errors never contain values from the file.
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

        /// The names of the systems that need credentials, joined for an error message.
        private var systemNames: String {
            systems.all.filter { $0.uploads.credentials != nil }.map(\.name.description).joined(separator: " and ")
        }

        private func values(of entry: JSONNode, of account: String, _ format: CredentialFormat, _ keyPath: String)
            throws(CredentialError) -> [CapturedText: String]
        {
            var values: [CapturedText: String] = [:]
            switch format.entry {
            case .text(let name): values[name] = try text(entry, keyPath)
            case .object(let keys):
                for (key, value) in try members(of: entry, keyPath) {
                    values[key] = try text(value, "\(keyPath).\(key)")
                }
                if let unknown = values.keys.filter({ !keys.contains($0) }).min() {
                    throw .malformed(path, "\(keyPath).\(unknown): unknown key")
                }
            }
            switch format.complete(values, account) {
            case .success(let values): return values
            case .failure(let fault):
                throw .malformed(path, "\(keyPath)\(fault.key.isEmpty ? "" : ".\(fault.key)") \(fault.words)")
            }
        }

        private func members(of node: JSONNode, _ keyPath: String) throws(CredentialError) -> [(String, JSONNode)] {
            guard document.kind(of: node) == .object else { throw .malformed(path, "\(keyPath) is not a JSON object") }
            return (0..<document.memberCount(of: node)).map { position in
                let member = document.member(at: position, of: node)
                return (document.string(of: member.key), member.value)
            }
        }

        private func text(_ node: JSONNode, _ keyPath: String) throws(CredentialError) -> String {
            guard document.kind(of: node) == .string, document.string(of: node).isValidCredential else {
                throw .malformed(path, "\(keyPath) must be printable ASCII text without spaces")
            }
            return document.string(of: node)
        }
    }
}
