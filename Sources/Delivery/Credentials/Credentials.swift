import Telemetry

/// The credentials that an operator gave, in a file and in the environment, which has the last word.
public struct Credentials: Sendable {
    /// The systems that credentials are of.
    let systems: SystemTable
    private var accounts: [SystemName: CredentialFormat.Accounts] = [:]

    /// No credentials.
    public init(of systems: SystemTable) {
        self.systems = systems
    }

    /// Takes the credentials of a file, then those of the environment, as the systems' `CredentialFormat` says.
    /// - Throws: ``CredentialError`` if a key is not one line of printable ASCII.
    public init(file: CredentialFile?, environment: [String: String], of systems: SystemTable) throws(CredentialError) {
        self.systems = systems
        accounts = file?.accounts ?? [:]
        for system in systems.all {
            guard let format = system.uploads.credentials else { continue }
            for name in format.variables(environment) where !(environment[name]?.isValidCredential ?? false) {
                throw .invalidVariable(name)
            }
            format.merge(environment, &accounts[system.name, default: [:]])
        }
    }

    /// The credential of an account; nil if none was given.
    public func credential(for account: Account) -> Credential? {
        guard let format = systems[account.system]?.uploads.credentials else { return Credential.none }
        return format.credential(account, accounts[account.system] ?? [:])
    }

    /// Whether an account has a credential.
    public func isKnown(_ account: Account) -> Bool { credential(for: account) != nil }

    /// The variable or file entry to set so that an account has a credential, in words.
    public func nameToSet(_ account: Account) -> String {
        systems[account.system]?.uploads.credentials?.nameToSet(account) ?? "nothing"
    }
}

/// Values that are printed say how many accounts they know, and none of the secrets.
extension Credentials: CustomStringConvertible, CustomReflectable {
    /// Only how many accounts there are.
    public var description: String { accounts.accountCount }

    /// Shows nothing, so that no dump holds a secret.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension CredentialFile: CustomStringConvertible, CustomReflectable {
    /// Only how many accounts there are.
    public var description: String { accounts.accountCount }

    /// Shows nothing, so that no dump holds a secret.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension [SystemName: CredentialFormat.Accounts] {
    /// How many accounts have credentials.
    fileprivate var accountCount: String { "credentials of \(values.reduce(0) { $0 + $1.count }) accounts" }
}

extension String {
    /// Whether the text can be a key: printable ASCII without spaces, not empty.
    var isValidCredential: Bool { !isEmpty && utf8.allSatisfy { (0x21..<0x7F).contains($0) } }
}
