import Bytes
import Files
import JSONText
import Telemetry

/// The credentials that the operator provides in a file and in environment variables.
///
/// A value in the environment overrides the value in the file.
public struct Credentials: Sendable {
    let systems: SystemTable
    private var accounts: [SystemName: AccountValues] = [:]

    /// Creates an empty set of credentials for `systems`.
    public init(of systems: SystemTable) { self.systems = systems }

    /// Creates credentials from a file and the environment.
    public init(file: CredentialFile?, environment: [String: String], of systems: SystemTable) throws(CredentialError) {
        self.systems = systems
        accounts = file?.accounts ?? [:]
        for system in systems.all {
            guard let format = system.uploads.credentials else { continue }
            for name in format.variables(in: environment) where !(environment[name]?.isValidCredential ?? false) {
                throw .invalidVariable(name)
            }
            format.merge(environment, into: &accounts[system.name, default: [:]])
        }
    }

    /// Returns the credential of `account`, or `nil` if the operator has not provided one.
    ///
    /// The result is `Credential.none` if the system of the account needs no credentials.
    public func credential(for account: Account) -> Credential? {
        guard let format = systems[account.system]?.uploads.credentials else { return Credential.none }
        return format.credential(of: account, among: accounts[account.system] ?? [:])
    }

    /// Returns whether `account` has a credential.
    public func hasCredential(for account: Account) -> Bool { credential(for: account) != nil }

    /// Returns the name of the environment variable or file entry that provides the credential of `account`.
    public func settingHint(for account: Account) -> String {
        systems[account.system]?.uploads.credentials?.settingHint(for: account) ?? "nothing"
    }
}

extension Credentials: CustomStringConvertible, CustomReflectable {
    /// A description that contains only the number of accounts, so that no secret is printed.
    public var description: String { accounts.accountCount }

    /// An empty mirror, so that `dump` does not print a secret.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

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
    let accounts: [SystemName: AccountValues]

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

        func accounts() throws(CredentialError) -> [SystemName: AccountValues] {
            var accounts: [SystemName: AccountValues] = [:]
            for (name, entries) in try members(of: document.root, "the file") where !name.hasPrefix("#") {
                guard let system = systems.name(name).flatMap({ systems[$0] }), let format = system.uploads.credentials
                else { throw .malformed(path, "\(name): only \(systemNames) have credentials") }
                var values: AccountValues = [:]
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

        private func values(of entry: JSONNode, of account: String, _ format: any CredentialFormat, _ keyPath: String)
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
            do throws(CredentialEntryError) {
                return try format.completed(values, ofAccount: account)
            } catch {
                throw .malformed(path, "\(keyPath)\(error.key.isEmpty ? "" : ".\(error.key)") \(error.words)")
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

extension CredentialFile: CustomStringConvertible, CustomReflectable {
    /// A description that contains only the number of accounts, so that no secret is printed.
    public var description: String { accounts.accountCount }

    /// An empty mirror, so that `dump` does not print a secret.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension [SystemName: AccountValues] {
    fileprivate var accountCount: String { "credentials of \(values.reduce(0) { $0 + $1.count }) accounts" }
}

extension String {
    /// Whether the string is not empty and contains only printable ASCII characters except spaces.
    var isValidCredential: Bool { !isEmpty && utf8.allSatisfy { (0x21..<0x7F).contains($0) } }
}

/// The functions that read files provided by the operator, such as credentials, certificates and keys.
enum OperatorFile {
    private static let maximumSize = 16 << 20

    /// Returns the contents of the file at `path`, which contains a secret.
    ///
    /// Only the owner may have access to the file, unless it is in `protectedFolder`. Access to that folder is
    /// restricted to the owner, for example because it is the credentials folder that systemd creates.
    static func secret(in path: String, protectedFolder: String?) throws(CredentialError) -> [UInt8] {
        let isProtected =
            protectedFolder.map { !$0.isEmpty && path.hasPrefix($0 + "/") && !path.contains("/../") } ?? false
        return try contents(of: path, isSecret: !isProtected)
    }

    /// Returns the contents of the file at `path`, which must not be accessible to others if `isSecret` is `true`.
    static func contents(of path: String, isSecret: Bool) throws(CredentialError) -> [UInt8] {
        let (isPrivate, contents): (Bool, [UInt8])
        do throws(FileError) {
            let file = try InputFile(path: path)
            (isPrivate, contents) = (file.isPrivate, try file.contents(limit: maximumSize))
        } catch {
            throw .file(error)
        }
        guard isPrivate || !isSecret else { throw .accessibleToOthers(path) }
        return contents
    }
}

/// An error in the credentials that the operator provides.
public enum CredentialError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The file cannot be read.
    case file(FileError)
    /// Other users can read or write the file at the path, although it contains a secret.
    case accessibleToOthers(String)
    /// The file does not have the documented format. The values are its path and the reason.
    case malformed(String, String)
    /// The environment variable with this name does not contain a valid key.
    case invalidVariable(String)

    /// A one-line message that contains no part of a credential.
    public var description: String {
        switch self {
        case .file(let error): "\(error)"
        case .accessibleToOthers(let path): "\(path): other users can read or change the secret in this file"
        case .malformed(let path, let fault): "\(path): \(fault)"
        case .invalidVariable(let name): "\(name) must be printable ASCII text without spaces"
        }
    }

    /// A suggestion for how to resolve the error, or `nil` if there is no specific one.
    public var remedy: String? {
        switch self {
        case .accessibleToOthers(let path):
            "run chmod 600 \(path), and replace the secret if other users may have read it"
        default: nil
        }
    }
}
