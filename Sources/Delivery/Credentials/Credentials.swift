import Telemetry

/// The credentials that the operator provides in a file and in environment variables.
///
/// A value in the environment overrides the value in the file.
public struct Credentials: Sendable {
    let systems: SystemTable
    private var accounts: [SystemName: CredentialFormat.Accounts] = [:]

    /// Creates an empty set of credentials for `systems`.
    public init(of systems: SystemTable) { self.systems = systems }

    /// Creates credentials from a file and the environment.
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

    /// Returns the credential of `account`, or `nil` if the operator has not provided one.
    ///
    /// The result is `Credential.none` if the system of the account needs no credentials.
    public func credential(for account: Account) -> Credential? {
        guard let format = systems[account.system]?.uploads.credentials else { return Credential.none }
        return format.credential(account, accounts[account.system] ?? [:])
    }

    /// Returns whether `account` has a credential.
    public func hasCredential(for account: Account) -> Bool { credential(for: account) != nil }

    /// Returns the name of the environment variable or file entry that provides the credential of `account`.
    public func settingHint(for account: Account) -> String {
        systems[account.system]?.uploads.credentials?.settingHint(account) ?? "nothing"
    }
}

extension Credentials: CustomStringConvertible, CustomReflectable {
    /// A description that contains only the number of accounts, so that no secret is printed.
    public var description: String { accounts.accountCount }

    /// An empty mirror, so that `dump` does not print a secret.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension CredentialFile: CustomStringConvertible, CustomReflectable {
    /// A description that contains only the number of accounts, so that no secret is printed.
    public var description: String { accounts.accountCount }

    /// An empty mirror, so that `dump` does not print a secret.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension [SystemName: CredentialFormat.Accounts] {
    fileprivate var accountCount: String { "credentials of \(values.reduce(0) { $0 + $1.count }) accounts" }
}

extension String {
    /// Whether the string is not empty and contains only printable ASCII characters except spaces.
    var isValidCredential: Bool { !isEmpty && utf8.allSatisfy { (0x21..<0x7F).contains($0) } }
}
